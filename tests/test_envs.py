"""The PettingZoo environments: their own checks, the same game through both, rewards, resets."""

import random
from functools import partial

import numpy as np
import pettingzoo
import pytest
from deals import fixed_choice
from gymnasium.spaces import Discrete
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

import ddz_env
from ddz_env import (
    PRESETS,
    DdzError,
    Game,
    IllegalActionError,
    action_id,
    env,
    n_actions,
    parallel_env,
    raw_env,
    vec_env,
)
from ddz_env.render import ansi, rgb_array

WIDE = PRESETS["qq_classic"].replace(kicker_both_jokers=True)
ROOMS = [*PRESETS, WIDE]
AGENTS = ["player_0", "player_1", "player_2"]
WAIT = action_id("wait")


def name(room):
    return room if isinstance(room, str) else room.name


rooms = pytest.mark.parametrize("room", ROOMS, ids=name)


def strict(test):
    """Every warning is an error, but for two that PettingZoo gives each masked environment."""
    for filter_ in (
        "error",
        "ignore:Observation is not a NumPy array:UserWarning",
        "ignore:Observation space for each agent probably should be:UserWarning",
    ):
        test = pytest.mark.filterwarnings(filter_)(test)
    return test


@rooms
@strict
@pytest.mark.parametrize("reward", ["score", "win"])
def test_pettingzoo_api(room, reward):
    api_test(env(room, reward=reward), num_cycles=300)


@rooms
@strict
def test_pettingzoo_parallel_api(room):
    parallel_api_test(parallel_env(room), num_cycles=300)


@rooms
@strict
def test_pettingzoo_seed(room):
    seed_test(lambda: env(room), num_cycles=200)


class MaskedDiscrete(Discrete):
    """Samples legal actions when nobody hands it a mask."""

    mask = None

    def sample(self, mask=None, probability=None):
        return super().sample(self.mask if mask is None else mask)


class MaskedParallelEnv(parallel_env):
    """PettingZoo's parallel seed test samples without masks; here the spaces know them."""

    def __init__(self, room):
        super().__init__(room)
        self.action_spaces = {a: MaskedDiscrete(n_actions(room)) for a in AGENTS}

    def _masked(self, observations):
        for agent, observation in observations.items():
            self.action_spaces[agent].mask = observation["action_mask"]

    def reset(self, seed=None, options=None):
        observations, infos = super().reset(seed, options)
        self._masked(observations)
        return observations, infos

    def step(self, actions):
        result = super().step(actions)
        self._masked(result[0])
        return result


@rooms
@strict
def test_pettingzoo_parallel_seed(room):
    parallel_seed_test(lambda: MaskedParallelEnv(room), num_cycles=200)


def play_aec(environment, seed, choose=fixed_choice):
    """One deal: what each decision saw, and every (agent, reward) that `last` gave."""
    environment.reset(seed=seed)
    seen, rewards = [], []
    for agent in environment.agent_iter():
        observation, reward, over, cut, info = environment.last()
        rewards.append((agent, reward))
        if over:
            environment.step(None)
            continue
        action = choose(info["legal_actions"], len(seen))
        seen.append((agent, observation, action))
        assert not cut
        environment.step(action)
    return seen, rewards


def play_parallel(environment, seed, choose=fixed_choice):
    """The same through the parallel environment: agents that are asked at once act in one step."""
    observations, infos = environment.reset(seed=seed)
    seen, rewards = [], []
    while environment.agents:
        actions = dict.fromkeys(AGENTS, WAIT)
        for agent in AGENTS:
            if infos[agent]["asked"]:
                actions[agent] = choose(infos[agent]["legal_actions"], len(seen))
                seen.append((agent, observations[agent], actions[agent]))
        observations, reward, over, cut, infos = environment.step(actions)
        rewards.append(reward)
        assert not any(cut.values()) and len(set(over.values())) == 1
    return seen, rewards


def same(one, other):
    return all(np.array_equal(one[key], other[key]) for key in ("observation", "action_mask"))


@rooms
def test_both_play_the_same_game(room):
    aec, parallel = env(room), parallel_env(room)
    for seed in range(5):
        ours, _ = play_aec(aec, seed)
        theirs, _ = play_parallel(parallel, seed)
        assert len(ours) == len(theirs) > 20
        for (agent, seen, action), (agent_2, seen_2, action_2) in zip(ours, theirs, strict=True):
            assert (agent, action) == (agent_2, action_2) and same(seen, seen_2)
        game = Game(room, seed=seed)
        for agent, seen, action in ours:
            assert agent == f"player_{game.seat}"
            assert np.flatnonzero(seen["action_mask"]).tolist() == game.legal_ids().tolist()
            game.step(action)
        assert game.over
        assert aec.unwrapped.game.to_bytes() == parallel.game.to_bytes() == game.to_bytes()


@rooms
def test_each_reward_comes_once(room):
    scores = set()
    for seed in range(10):
        aec, parallel = env(room), parallel_env(room)
        _, rewards = play_aec(aec, seed)
        expected = aec.unwrapped.game.scores
        scores.add(tuple(expected))
        for seat, agent in enumerate(AGENTS):
            got = [reward for who, reward in rewards if who == agent]
            assert got[-1] == sum(got) == expected[seat] != 0
            assert all(type(reward) is float for reward in got)
        _, rewards = play_parallel(parallel, seed)
        assert [rewards[-1][agent] for agent in AGENTS] == expected
        assert all(set(reward.values()) == {0} for reward in rewards[:-1])
    assert len(scores) > 1


@rooms
def test_win_rewards(room):
    for seed in range(10):
        aec, parallel = env(room, reward="win"), parallel_env(room, reward="win")
        _, rewards = play_aec(aec, seed)
        game = aec.unwrapped.game
        landlord_won = game.winner == game.landlord
        wanted = {
            f"player_{s}": 1.0 if (s == game.landlord) == landlord_won else -1.0 for s in range(3)
        }
        assert dict(rewards[-3:]) == wanted
        assert play_parallel(parallel, seed)[1][-1] == wanted


@pytest.mark.parametrize(
    ("room", "choices"),
    [("qq_classic", 3), ("jj_classic", 3), ("happy", 12), ("happy_blind", 6),
     ("happy_laizi", 12), ("crazy_laizi", 6)],
)  # fmt: skip
def test_a_void_deal_gives_nothing(room, choices):
    """Everybody refuses (a blind grab by looking) until the last redeal too is thrown in."""
    rules = PRESETS[room].replace(max_redeals=1)
    for reward in ("score", "win"):
        aec, parallel = env(rules, reward=reward), parallel_env(rules, reward=reward)
        seen, rewards = play_aec(aec, 3, refuse)
        game = aec.unwrapped.game
        assert len(seen) == 2 * choices and game.redeals == 1 and game.over
        assert {value for _, value in rewards} == {0.0} and aec.agents == []
        assert [agent for agent, _ in rewards[-3:]] == AGENTS
        seen_2, rewards = play_parallel(parallel, 3, refuse)
        assert all(same(one[1], two[1]) for one, two in zip(seen, seen_2, strict=True))
        assert {value for reward in rewards for value in reward.values()} == {0.0}
        assert parallel.game.to_bytes() == game.to_bytes() and parallel.agents == []
        for agent in AGENTS:
            assert parallel.observation_space(agent).contains(aec.observe(agent))


def refuse(ids, _):
    """The no; `look` rather than grab blind."""
    return ids[0] if 0 in ids else action_id("look")


@rooms
def test_who_is_not_asked(room):
    """No legal action in the AEC environment, only `wait` in the parallel one; same features."""
    aec, parallel = env(room), parallel_env(room)
    aec.reset(seed=4)
    observations, infos = parallel.reset(seed=4)
    at_once = set()
    for ply in range(25):
        asked = [agent for agent in AGENTS if infos[agent]["asked"]]
        at_once.add((len(asked), aec.unwrapped.game.phase))
        for turn in asked:  # one after another in the AEC environment, all see what they saw before
            assert aec.agent_selection == turn
            for agent in AGENTS:
                seen = aec.observe(agent)
                assert np.array_equal(seen["observation"], observations[agent]["observation"])
                assert aec.observation_space(agent).contains(seen)
                mask = np.flatnonzero(seen["action_mask"]).tolist()
                listed = aec.infos[agent]["legal_actions"]
                assert mask == listed.tolist() and listed.dtype == np.int32
                other = np.flatnonzero(observations[agent]["action_mask"]).tolist()
                assert other == infos[agent]["legal_actions"].tolist()
                assert (len(mask) > 0) == (agent == turn)
                if agent == turn:
                    assert other == mask
                elif agent not in asked:
                    assert other == [WAIT]
            aec.step(fixed_choice(infos[turn]["legal_actions"], ply))
        actions = {a: fixed_choice(infos[a]["legal_actions"], ply) for a in AGENTS}
        observations, _, _, _, infos = parallel.step(actions)
    moments = ("show_before_deal", "show_at_6", "show_at_12", "double")
    assert {item for item in at_once if item[0] != 1} <= {(3, phase) for phase in moments}
    shows = Game(room).rules.show_before_deal > 0
    assert ((3, "show_before_deal") in at_once) == shows


def test_observations_are_kept():
    """An observation in the caller's hands does not change when the game goes on."""
    environment = env("play_only")
    seen, _ = play_aec(environment, 1)
    again, _ = play_aec(env("play_only"), 1, lambda ids, ply: seen[ply][2])
    kept = [(who, {k: v.copy() for k, v in what.items()}) for who, what, _ in again]
    assert all(same(what, copy) for (_, what, _), (_, copy) in zip(seen, kept, strict=True))
    assert len({what["observation"].tobytes() for _, what, _ in seen}) == len(seen)


def test_spaces():
    for room in ROOMS:
        for environment in (env(room), raw_env(room), parallel_env(room)):
            assert environment.possible_agents == AGENTS
            assert environment.metadata["name"] == "ddz_v1"
            for agent in AGENTS:
                assert environment.action_space(agent) == Discrete(n_actions(room))
                assert environment.action_space(agent) is environment.action_space(agent)
                mask = environment.observation_space(agent)["action_mask"]
                assert mask.shape == (n_actions(room),)


def test_a_finished_deal_refuses():
    raw, parallel = raw_env(), parallel_env()
    play_aec(raw, 2)
    before = raw.game.to_bytes()
    with pytest.raises(IllegalActionError, match="over"):
        raw.step(0)
    wrapped = env()
    wrapped.reset(seed=2)
    for _ in wrapped.agent_iter():
        _, _, over, _, info = wrapped.last()
        if over:
            with pytest.raises(ValueError, match="None"):
                wrapped.step(0)
            break
        wrapped.step(fixed_choice(info["legal_actions"], 0))
    assert wrapped.agent_selection == "player_0" and raw.game.to_bytes() == before
    with pytest.raises(IllegalActionError, match="reset"):
        parallel.step(dict.fromkeys(AGENTS, WAIT))
    play_parallel(parallel, 2)
    with pytest.raises(IllegalActionError, match="reset"):
        parallel.step(dict.fromkeys(AGENTS, WAIT))
    raw.reset(seed=2)
    assert raw.agents == AGENTS and not raw.game.over


def test_the_order_of_calls_is_enforced():
    environment = env()
    with pytest.raises(AttributeError):
        environment.agent_selection  # noqa: B018 (the access is what is refused)
    with pytest.raises(Exception, match="reset"):
        environment.step(0)


def test_a_batch_without_autoreset_refuses():
    batch = vec_env(1, "play_only", seed=1, autoreset=False)
    while not batch.done.any():
        batch.step(batch.sample())
    assert len(batch.legal().ids) == 0 and batch.points().sum() == 0
    with pytest.raises(IllegalActionError, match="over"):
        batch.step(np.array([0]))


@rooms
def test_two_environments_do_not_disturb_each_other(room):
    alone = [play_aec(env(room), seed)[0] for seed in (1, 2)]
    pair = [env(room), env(room)]
    for seed, environment in enumerate(pair, 1):
        environment.reset(seed=seed)
    for ply in range(30):
        for environment, seen in zip(pair, alone, strict=True):
            agent, observation, action = seen[ply]
            assert environment.agent_selection == agent
            assert same(environment.last()[0], observation)
            environment.step(action)


@rooms
@pytest.mark.parametrize("make", [raw_env, parallel_env])
def test_deal_after_deal(room, make):
    """Without a seed the next deal is that of a batch's row, which starts it by itself."""
    environment = make(room)
    environment.reset(seed=5)
    batch = vec_env(1, room)
    batch.load(0, environment.game)
    for _ in range(6):
        while not batch.step(batch.sample())[0]:
            pass
        environment.reset()
        assert environment.game.state.tobytes() == batch.states[0].tobytes()
    environment.reset(seed=5)
    assert environment.game.to_bytes() == Game(room, seed=5).to_bytes()


def test_the_first_caller_rotates_until_a_seed_draws_it():
    environment = raw_env("qq_classic")
    environment.reset(seed=1)
    drawn = environment.game.seat
    for later in range(1, 5):
        environment.reset()
        assert environment.game.seat == (drawn + later) % 3
        assert environment.agent_selection == f"player_{environment.game.seat}"
    environment.reset(seed=1)
    assert environment.game.seat == drawn
    firsts = set()
    for seed in range(20):
        environment.reset(seed=seed)
        firsts.add(environment.game.seat)
    assert firsts == {0, 1, 2}


@pytest.mark.parametrize("make", [raw_env, parallel_env])
def test_the_first_deal_of_all_is_random(make):
    hands = set()
    for _ in range(5):
        environment = make()
        environment.reset()
        hands.add(tuple(environment.game.hands))
    assert len(hands) == 5


@pytest.mark.parametrize("make", [raw_env, parallel_env])
def test_options(make):
    deal = {"hands": ["33334444555566667", "77788889999TTTTJJ", "JJQQQQKKKKAAAA222"]}
    deal["bottom"] = "2XD"
    environment = make("qq_classic")
    environment.reset(seed=1, options={"first": 2, "deal": deal})
    assert environment.game.hands == deal["hands"]
    assert (environment.game.seat, environment.game.bottom) == (2, "2XD")
    environment.reset()
    assert environment.game.seat == 0 and environment.game.hands != deal["hands"]
    before = environment.game.to_bytes()
    for options, word in (({"first": 3}, "first"), ({"deal": [0] * 54}, "deal")):
        with pytest.raises(DdzError, match=word):
            environment.reset(options=options)
    with pytest.raises(DdzError, match="seed"):
        environment.reset(seed=-1)
    assert environment.game.to_bytes() == before


@rooms
@strict
def test_pettingzoo_render(room, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    render_test(partial(raw_env, room))


@pytest.mark.parametrize("make", [env, parallel_env])
def test_render(make, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for mode in ("ansi", "rgb_array", "human"):
        environment = make("qq_classic", render_mode=mode)
        environment.reset(seed=1)
        shown, game = environment.render(), environment.unwrapped.game
        if mode == "ansi":
            assert shown == ansi(game)
            assert all(hand in shown for hand in game.hands)
        elif mode == "rgb_array":
            assert np.array_equal(shown, rgb_array(game))
        else:
            assert shown is None
        environment.close()
        environment.close()
    silent = make("qq_classic")
    silent.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None
    with pytest.raises(DdzError, match="reset"):
        make("qq_classic", render_mode="ansi").unwrapped.render()


@pytest.mark.parametrize("make", [env, raw_env, parallel_env])
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"rules": "mahjong"}, "mahjong"),
        ({"render_mode": "opengl"}, "opengl"),
        ({"reward": "money"}, "money"),
    ],
)
def test_bad_arguments(make, arguments, word):
    with pytest.raises(DdzError, match=word):
        make(**arguments)


@rooms
def test_illegal_actions_change_nothing(room):
    rng = random.Random(3)
    aec, parallel = env(room), parallel_env(room)
    aec.reset(seed=6)
    parallel.reset(seed=6)
    for ply in range(20):
        asked = aec.agent_selection
        legal = aec.infos[asked]["legal_actions"]
        at_once = [AGENTS[seat] for seat in parallel.game.asked]
        waiting = {a: 0 if a in at_once else WAIT for a in AGENTS}
        seen, before = aec.observe(asked), aec.unwrapped.game.to_bytes()
        illegal = [a for a in rng.sample(range(64, n_actions(room)), 5) if a not in legal]
        for action in [*illegal, WAIT, -1, n_actions(room) + 99_999, None, 1.0, "no play"]:
            with pytest.raises(DdzError):
                aec.step(action)
            with pytest.raises(DdzError):
                parallel.step({**waiting, at_once[-1]: action})
        good = {a: fixed_choice(legal, ply) if a in at_once else WAIT for a in AGENTS}
        bad = [{**good, a: WAIT if a in at_once else 0} for a in AGENTS]
        for actions in (*bad, {asked: good[asked]}, {**good, "player_3": 0}, {}):
            with pytest.raises(IllegalActionError, match="player_"):
                parallel.step(actions)
        assert aec.agent_selection == asked and aec.observe(asked) is seen
        assert aec.unwrapped.game.to_bytes() == parallel.game.to_bytes() == before
        for agent in at_once:
            aec.step(good[agent])
        parallel.step(good)


def test_log_score_is_the_logarithm_of_the_score():
    rewards = {}
    for reward in ("score", "log_score", "win"):
        game = env("happy", reward=reward)
        game.reset(seed=11)
        totals = dict.fromkeys(game.possible_agents, 0.0)
        for agent in game.agent_iter():
            observation, gained, terminated, _, _ = game.last()
            totals[agent] += gained
            game.step(None if terminated else int(np.flatnonzero(observation["action_mask"])[-1]))
        rewards[reward] = np.array(list(totals.values()))
    score = rewards["score"]
    assert np.abs(score).max() > 1
    assert np.allclose(rewards["log_score"], np.sign(score) * np.log2(1 + np.abs(score)))
    assert np.array_equal(rewards["win"], np.sign(score))


@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="this PettingZoo has no registry")
def test_pettingzoo_makes_it_by_name():
    environment = pettingzoo.make("aec", "ddz_env/doudizhu_v1", rules="happy")
    assert environment.unwrapped.rules == PRESETS["happy"]
    assert isinstance(pettingzoo.make("parallel", "ddz_env/doudizhu_v1"), parallel_env)
    ddz_env.registration.register()  # again is no error, and no warning
