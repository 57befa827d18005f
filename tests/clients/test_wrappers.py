"""Gymnasium's and PettingZoo's own wrappers around the environments; part of the default tests."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import (
    DtypeObservation,
    FilterObservation,
    FlattenObservation,
    RecordEpisodeStatistics,
    vector,
)
from pettingzoo.utils import BaseParallelWrapper, BaseWrapper, conversions, wrappers

import ddz_env

SEED = 5
AEC_WRAPPERS = {
    "assert_out_of_bounds": wrappers.AssertOutOfBoundsWrapper,
    "base": BaseWrapper,
    "terminate_illegal": lambda env: wrappers.TerminateIllegalWrapper(env, illegal_reward=-1),
}


def play_aec(env):
    """The first legal action at every turn; each agent's sum of rewards."""
    env.reset(seed=SEED)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(2000):
        seen, reward, terminated, truncated, _ = env.last()
        totals[agent] += reward
        over = terminated or truncated
        env.step(None if over else int(np.flatnonzero(seen["action_mask"])[0]))
    assert not env.agents
    return totals


def play_parallel(env):
    """The same; agents without a legal action give None."""
    observations, _ = env.reset(seed=SEED)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        actions = {}
        for agent in env.agents:
            ids = np.flatnonzero(observations[agent]["action_mask"])
            actions[agent] = int(ids[0]) if len(ids) else None
        observations, rewards, _, _, _ = env.step(actions)
        for agent, reward in rewards.items():
            totals[agent] += reward
    return totals


@pytest.fixture(scope="module")
def bare():
    totals = play_aec(ddz_env.env())
    assert sum(totals.values()) == 0 and totals["player_0"] != 0
    return totals


@pytest.mark.parametrize("name", AEC_WRAPPERS)
def test_pettingzoo_aec_wrappers(name, bare):
    assert play_aec(AEC_WRAPPERS[name](ddz_env.env())) == bare


def test_terminate_illegal_ends_the_deal():
    env = wrappers.TerminateIllegalWrapper(ddz_env.env(), illegal_reward=-1)
    env.reset(seed=SEED)
    seen, *_ = env.last()
    env.step(int(np.flatnonzero(seen["action_mask"] == 0)[0]))
    assert env.rewards == {"player_0": -1, "player_1": 0, "player_2": 0}
    assert all(env.terminations.values())


def test_pettingzoo_parallel_wrappers(bare):
    assert play_parallel(BaseParallelWrapper(ddz_env.parallel_env())) == bare


def test_multi_episode(bare):
    """Its steps are those of `num_episodes` deals; the first is the one of the seed."""
    totals = play_parallel(wrappers.MultiEpisodeParallelEnv(ddz_env.parallel_env(), 2))
    assert sum(totals.values()) == 0
    assert play_parallel(wrappers.MultiEpisodeParallelEnv(ddz_env.parallel_env(), 1)) == bare


def test_conversions(bare):
    assert play_aec(conversions.parallel_to_aec(ddz_env.parallel_env())) == bare
    assert play_parallel(conversions.turn_based_aec_to_parallel(ddz_env.env())) == bare
    with pytest.raises(AssertionError, match="not generally safe"):
        # Agents act in turn, so this is not the environment's parallel form: `parallel_env` is.
        conversions.aec_to_parallel(ddz_env.env())


def test_infos_without_lists(bare):
    """Libraries that stack infos need the same keys and shapes throughout."""
    env = ddz_env.env(legal_infos=False)
    assert play_aec(env) == bare
    env.reset(seed=SEED)
    assert env.infos == {agent: {} for agent in env.agents}
    env = ddz_env.parallel_env(legal_infos=False)
    assert play_parallel(env) == bare
    _, infos = env.reset(seed=SEED)
    assert [infos[agent] for agent in env.agents] == [{"asked": seat == 0} for seat in range(3)]


def play_single(env):
    """The first legal action at every turn; last observation, sum of rewards, last info."""
    seen, info = env.reset(seed=SEED)
    total, terminated = 0.0, False
    while not terminated:
        assert env.observation_space.contains(seen)
        mask = env.get_wrapper_attr("action_masks")()
        seen, reward, terminated, _, info = env.step(int(np.flatnonzero(mask)[0]))
        total += reward
    return seen, total, info


def test_gymnasium_wrappers():
    _, total, _ = play_single(gymnasium.make("ddz_env/DouDizhu-v0"))
    env = gymnasium.make("ddz_env/DouDizhu-v0")
    seen, reward, info = play_single(RecordEpisodeStatistics(FlattenObservation(env)))
    size, n = ddz_env.schema().size, ddz_env.n_actions("play_only")
    assert seen.shape == (n + size,) and seen.dtype == np.int8
    assert reward == total == info["episode"]["r"]
    env = FilterObservation(gymnasium.make("ddz_env/DouDizhu-v0"), ["observation"])
    seen, reward, _ = play_single(DtypeObservation(FlattenObservation(env), np.float32))
    assert seen.shape == (size,) and seen.dtype == np.float32
    assert reward == total


def test_gymnasium_sync_vector():
    envs = gymnasium.make_vec("ddz_env/DouDizhu-v0", num_envs=3, vectorization_mode="sync")
    envs.reset(seed=SEED)
    ended = np.zeros(3, bool)
    for _ in range(100):
        # After its last step a row has no legal action; the next one only resets it.
        actions = [int(mask.argmax()) for mask in envs.call("action_masks")]
        seen, _, terminated, _, _ = envs.step(np.array(actions))
        ended |= terminated
    assert ended.all()
    assert envs.observation_space.contains(seen)


def test_gymnasium_vector_wrappers():
    envs = gymnasium.make_vec("ddz_env/DouDizhu-v0", num_envs=3)
    stats = vector.RecordEpisodeStatistics(vector.FlattenObservation(envs))
    stats.reset(seed=SEED)
    ended = np.zeros(3, bool)
    for _ in range(100):
        seen, reward, terminated, _, infos = stats.step(envs.unwrapped.action_masks().argmax(1))
        assert stats.observation_space.contains(seen)
        if terminated.any():
            assert (infos["episode"]["r"][terminated] == reward[terminated]).all()
        ended |= terminated
    assert ended.all()
