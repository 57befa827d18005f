"""Other engines beside our kernels: what is predicted of them, and themselves where installed."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from reference_rules import ROOMS, sort_cards
from reference_rules import legal_plays as referee

from ddz_env import RuleSet, action_id, action_text, catalogue_counts
from ddz_env.cards import check_deal, from_text, pack, unpack
from ddz_env.catalogue import ACTIONS, Category
from eval import compare
from eval.peers_count import catalogue, judge, quotas, reader, states_of
from eval.peers_engines import PEERS, Peer
from eval.peers_faults import (
    BOMB_ON_ROCKET,
    CHAIN_ON_FOUR,
    LARGEST_TRIO_RANKS,
    REPEATED,
    TAKEN_FOR_CHAIN,
    TAKEN_FOR_WRONG,
)
from eval.peers_games import DEALS, Follower, Lister, Position, facing, packets, positions

STATES = 600


def place(hand, last=None):
    return Position(from_text(hand), action_id(last) if last else 0)


def theirs(name):
    """An engine that is asked, or a skip that says what is not installed."""
    if PEERS[name].version is None:
        pytest.skip(f"the package {PEERS[name].package} is not installed")
    return PEERS[name].open()


class Pretended:
    """Lists just what is predicted of an engine, but for `plant`, which may change the list."""

    def __init__(self, peer, plant=lambda position, keys: keys):
        self.follower, self.peer, self.plant = Follower(), peer, plant

    def listed(self, position):
        lister = reader(self.peer)
        ids = lister.ids(position)
        keys = set(self.peer.key(ids))
        for change in self.peer.faults(position, ids, lister).values():
            keys = (keys - change.lacks) | change.adds
        times = self.peer.times(position, keys, lister)
        return self.plant(position, sorted(times.elements()))

    def catalogue(self):
        return set()


# ------------------------------------------------------------------------- what is predicted


@pytest.mark.parametrize(("name", "plays"), [("rlcard", 27_471), ("open_spiel", 26_053)])
def test_readings_have_the_published_sizes(name, plays):
    assert sum(catalogue_counts(compare.rules_for(name)).values()) == plays
    assert len(catalogue(compare.rules_for(name))) == plays


def test_the_reading_of_douzero_has_the_published_size():
    rules = compare.rules_for("douzero")
    assert isinstance(rules, RuleSet)
    assert len(set(ACTIONS["need"][catalogue(rules)].tolist())) + 1 == 29_985


def predicted(name, hand, last=None):
    """Texts of what a fault adds and lacks, by fault, those without any left out."""
    peer, position = PEERS[name], place(hand, last)
    found = peer.faults(position, reader(peer).ids(position), reader(peer))
    return {
        fault: ({peer.text(k) for k in change.adds}, {peer.text(k) for k in change.lacks})
        for fault, change in found.items()
        if change.adds or change.lacks
    }


@pytest.mark.parametrize(
    ("hand", "last", "fault", "adds", "lacks"),
    [
        ("33334567", None, CHAIN_ON_FOUR, set(), {"34567"}),
        ("34444567", None, None, set(), set()),  # only the first rank of the chain matters
        ("33334444", None, CHAIN_ON_FOUR, set(), {"333444"}),
        ("333345678", "34567", None, set(), set()),
        ("3444456789T", "34567", CHAIN_ON_FOUR, set(), {"45678"}),
        ("33335555", "XD", BOMB_ON_ROCKET, {"3333", "5555"}, set()),
        ("33335555", "4444", None, set(), set()),
    ],
)
def test_faults_of_open_spiel(hand, last, fault, adds, lacks):
    assert predicted("open_spiel", hand, last) == ({fault: (adds, lacks)} if fault else {})


SIX_TO_EIGHT, SIX_TO_NINE = "666777888", "666777888999"


@pytest.mark.parametrize(
    ("hand", "last", "fault", "adds", "lacks"),
    [
        # Four neighbouring trios, played as three with three solos, are read as a chain of four.
        ("777888999TJQ", "444555666+333", TAKEN_FOR_CHAIN, set(), {"777888999TJQ"}),
        ("777888999TTT", "444555666+333", None, set(), set()),
        ("888999TTT345", "444555666+222", LARGEST_TRIO_RANKS, set(), {"888999TTT345"}),
        ("333444555222", SIX_TO_EIGHT + "+TJQ", LARGEST_TRIO_RANKS, {"333444555222"}, set()),
        ("AAAKKKQQQ345", SIX_TO_EIGHT + "+TJQ", None, set(), set()),
        ("TTTJJJQQQKKK3345", SIX_TO_NINE + "+3334", TAKEN_FOR_WRONG, set(), {"TTTJJJQQQKKK3345"}),
        ("TTTJJJQQQKKK3345", SIX_TO_NINE + "+4444", TAKEN_FOR_WRONG, set(), {"TTTJJJQQQKKK3345"}),
        ("TTTJJJQQQKKK3345", SIX_TO_NINE + "+4455", None, set(), set()),
        ("22223456", SIX_TO_NINE + "+3334", None, set(), set()),  # only bombs answer anyway
    ],
)
def test_faults_of_douzero(hand, last, fault, adds, lacks):
    found = predicted("douzero", hand, last)
    assert found == ({fault: (as_cards(adds), as_cards(lacks))} if fault else {})


def as_cards(texts):
    return {sort_cards(text) for text in texts}


def test_how_often_douzero_lists_a_play():
    peer, position = PEERS["douzero"], place("3333999J")
    listed = set(peer.key(reader(peer).ids(position)))
    times = peer.times(position, listed, reader(peer))
    assert times[from_text("333399")] == times[from_text("33339J")] == 2
    assert times[from_text("333999")] == 0 and times[from_text("3339")] == 1
    assert set(times) == listed and times.total() > len(listed)


@pytest.mark.parametrize("name", PEERS)
def test_predictions_come_true_of_what_is_predicted(name):
    tally = compare.compare(PEERS[name], 200, 3, Pretended(PEERS[name]))
    assert tally.left_over == 0 and tally.left == []
    assert {k: s.states for k, s in tally.strata.items()} == quotas(200)


# ------------------------------------------------------------- planted differences are left over


def without_last(position, keys):
    return keys[:-1]


def with_another(position, keys):
    return [*keys, "3344"]


def with_one_twice(position, keys):
    return [*keys, keys[0]]


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("plant", [without_last, with_another, with_one_twice])
def test_a_planted_difference_is_left_over(name, plant):
    tally = compare.compare(PEERS[name], 100, 3, Pretended(PEERS[name], plant))
    assert tally.left_over >= 100 and tally.left
    assert sum(s.left_over for s in tally.strata.values()) == 100


@pytest.mark.parametrize(
    ("name", "wrong"), [("open_spiel", "against a prediction"), ("douzero", "listed 1 times, not")]
)
def test_a_prediction_that_does_not_come_true_is_left_over(name, wrong):
    """An engine that just plays by its reading, its faults mended."""
    peer = PEERS[name]
    mended = replace(peer, faults=PEERS["rlcard"].faults, times=PEERS["rlcard"].times)
    tally = compare.compare(peer, 2000, 3, Pretended(mended))
    assert tally.left_over > 0
    assert all(wrong in text for text in tally.left)


def test_what_turning_a_field_removes_is_counted_under_it():
    peer = PEERS["douzero"]
    position = place("3333XD")
    verdict = judge(peer, position, Pretended(peer).listed(position))
    assert verdict.fields == {"kicker_both_jokers": {from_text("3333XD")}}
    assert not verdict.equal_default and verdict.equal_reading and not verdict.left


# ---------------------------------------------------------------------------------- the states


@pytest.mark.parametrize("make", [*DEALS.values(), facing, packets])
def test_deals_are_decks(make):
    rng = random.Random(4)
    for _ in range(200):
        check_deal(make(rng))


def test_clumped_deals_hold_more_bombs():
    def bombs(kind):
        rng = random.Random(4)
        hands = [DEALS[kind](rng)[:17] for _ in range(300)]
        return sum(int((np.bincount(hand) == 4).sum()) for hand in hands)

    assert bombs("clumped") > 3 * bombs("random")


def test_states_are_distinct_and_depend_on_the_seed_alone():
    peer = PEERS["rlcard"]
    runs = [list(states_of(peer, Pretended(peer), 402, seed)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert len({position for _, position in runs[0]}) == 402
    assert Counter((kind, p.turn) for kind, p in runs[0]) == quotas(402)
    assert sorted(quotas(402).values()) == [100, 100, 101, 101]


@pytest.mark.parametrize("kind", DEALS)
def test_states_are_those_of_games(kind):
    """Hand and play to beat come out of one deck; what we list there is what the referee lists."""
    lister, turns = Lister(compare.rules_for("rlcard")), Counter()
    for position in islice(positions(lister.rules, kind, 5), 150):
        hand, *_ = str(position).split()
        counts = np.add(unpack(position.hand), unpack(int(ACTIONS[position.last]["need"])))
        assert (counts[:13] <= 4).all() and (counts[13:15] <= 1).all() and 1 <= len(hand) <= 20
        last = action_text(position.last) if position.last else None
        ours = [action_text(int(a)) for a in lister.ids(position)]
        assert sorted(ours) == referee(hand, last, ROOMS["play_only"])
        turns[position.turn] += 1
    assert min(turns.values()) > 30


# ------------------------------------------------------------------------------- the engines


@pytest.mark.parametrize("name", PEERS)
def test_nothing_is_left_over(name):
    oracle = theirs(name)
    tally = compare.compare(PEERS[name], STATES, 7, oracle)
    assert tally.left == [] and tally.left_over == 0
    assert {k: s.states for k, s in tally.strata.items()} == quotas(STATES)
    equal = sum(s.equal_reading for s in tally.strata.values())
    if name == "rlcard":
        assert equal == STATES and tally.catalogue == 27_471 and not tally.faults
    if name == "open_spiel":
        assert equal < STATES and tally.catalogue == 26_053
        assert (
            tally.faults[CHAIN_ON_FOUR].plays > 0 and tally.fields["four_with_two_solos"].plays > 0
        )
    if name == "douzero":
        assert tally.faults[REPEATED].most > 1 and tally.fields["kicker_both_jokers"].plays > 0


@pytest.mark.parametrize("name", ["rlcard", "douzero"])
def test_answers_to_airplanes(name):
    """Of hands that face each other, without games: rare faults come up at once."""
    oracle, peer, rng = theirs(name), PEERS[name], random.Random(6)
    faults = Counter()
    for _ in range(800):
        cards = facing(rng)
        lead, answer = pack([*cards[:17], *cards[51:]]), pack(cards[17:34])
        ids = reader(peer).ids(Position(lead, 0))
        plays = ids[ACTIONS["category"][ids] == Category.AIRPLANE_WITH_SOLOS]
        position = Position(answer, int(rng.choice(plays.tolist())))
        verdict = judge(peer, position, oracle.listed(position))
        assert not verdict.left, (position, verdict.left)
        faults.update(list(verdict.faults))
    wanted = {TAKEN_FOR_CHAIN, TAKEN_FOR_WRONG, LARGEST_TRIO_RANKS} if name == "douzero" else set()
    assert set(faults) == wanted


def cards_of(text):
    """A play's cards ascending."""
    return text if text == "pass" else sort_cards(text.replace("+", ""))


def test_rlcard_is_asked_as_its_own_games_ask():
    oracle = theirs("rlcard")
    import rlcard

    env = rlcard.make("doudizhu", config={"seed": 3})
    rng, ranks = random.Random(3), "3456789TJQKA2BR"
    for _ in range(2):
        state, _ = env.reset()
        while not env.is_over():
            raw = state["raw_obs"]
            beaten = [text for _, text in raw["trace"][-2:] if text != "pass"]
            hand = pack([ranks.index(card) for card in raw["current_hand"]])
            need = pack([ranks.index(card) for card in "".join(beaten[-1:])])
            last = int(np.flatnonzero(ACTIONS["need"] == need)[0]) if beaten else 0
            listed = [PEERS["rlcard"].text(key) for key in oracle.listed(Position(hand, last))]
            named = [text.replace("B", "X").replace("R", "D") for text in raw["actions"]]
            assert sorted(map(cards_of, listed)) == sorted(named)
            state, _ = env.step(rng.choice(raw["actions"]), raw_action=True)


def test_douzero_is_asked_as_its_own_games_ask():
    oracle = theirs("douzero")
    from douzero.env.game import GameEnv

    rng, ranks = random.Random(3), [*range(3, 15), 17, 20, 30]
    asked = 0

    class Player:
        def act(self, infoset):
            nonlocal asked
            asked += 1
            moves = infoset.legal_actions
            assert Counter(map(packed, moves)) == Counter(oracle.listed(position_of(infoset)))
            return rng.choice(moves)

    def packed(cards):
        return pack([ranks.index(card) for card in cards])

    def position_of(infoset):
        need = packed(infoset.last_move)
        # Random games from shuffled deals: a play with two readings would fail here, none comes.
        (last,) = np.flatnonzero(ACTIONS["need"] == need)[:1] if need else [0]
        return Position(packed(infoset.player_hand_cards), int(last))

    roles = ("landlord", "landlord_down", "landlord_up")
    for _ in range(3):
        deck = [c for c in ranks[:13] for _ in range(4)] + [20, 30]
        rng.shuffle(deck)
        hands = [deck[:17] + deck[51:], deck[17:34], deck[34:51]]
        data = {role: sorted(hand) for role, hand in zip(roles, hands, strict=True)}
        env = GameEnv({role: Player() for role in roles})
        env.card_play_init({**data, "three_landlord_cards": deck[51:]})
        while not env.game_over:
            env.step()
        assert not all(map(len, data.values()))  # it has taken the played cards out of our lists
    assert asked > 60


@pytest.mark.parametrize(
    ("hand", "last", "listed"),
    [
        ("333444555222", "666777888+9TJ", ["333444555222", ""]),
        ("777888999TJQ", "444555666+333", [""]),
        ("TTTJJJQQQKKK3345", "666777888999+3334", [""]),
        ("TTTJJJQQQKKK3345", "666777888999+4455", ["TTTJJJQQQKKK3345", ""]),
    ],
)
def test_the_examples_of_douzero(hand, last, listed):
    assert theirs("douzero").listed(place(hand, last)) == [from_text(text) for text in listed]


def test_what_else_the_page_says_of_douzero():
    theirs("douzero")
    from douzero.env.move_detector import get_move_type

    assert get_move_type([20, 30]) == {"type": 5} and get_move_type([30, 20]) == {"type": 15}


def test_what_else_the_page_says_of_rlcard():
    theirs("rlcard")
    code = (
        "import rlcard; from rlcard.games.doudizhu.judger import DoudizhuJudger as judger;"
        "env = rlcard.make('doudizhu', config={'seed': 1}); state, seat = env.reset();"
        "print(judger.judge_payoffs(0, 0).tolist(), judger.judge_payoffs(0, 1).tolist(), seat,"
        " state['raw_legal_actions'])"
    )
    shown = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert all(text.startswith("[1, 0, 0] [0, 1, 1] 0 ") for text in shown)
    assert shown[0] != shown[1] and sorted(shown[0]) == sorted(shown[1])


def test_what_else_the_page_says_of_open_spiel():
    """A number of its observation says both that one holds the big joker and that 33 was played."""
    oracle = theirs("open_spiel")
    rng, hands = random.Random(1), []
    while not hands or hands[0].count(0) < 2 or 14 not in hands[1]:
        cards = DEALS["random"](rng)
        hands = [cards[17 * seat : 17 * seat + 17].tolist() for seat in range(3)]
    oracle.start(cards)
    assert [oracle.state.observation_tensor(seat)[71] for seat in range(3)] == [0, 1, 0]
    oracle.step(action_id("33"))
    assert [oracle.state.observation_tensor(seat)[71] for seat in range(3)] == [1, 1, 1]


# ------------------------------------------------------------------------------- the command


@pytest.fixture
def pretended(monkeypatch):
    """A function that puts an engine among the peers which lists what it is planted to."""

    def put(plant=lambda position, keys: keys):
        peer = Peer("other", "Other", "numpy", "numpy", "pip install other", lambda: oracle)
        oracle = Pretended(peer, plant)
        monkeypatch.setitem(PEERS, "other", peer)

    return put


def test_the_command(pretended, tmp_path, capsys):
    pretended()
    path = tmp_path / "deep" / "peers.json"
    line = ["--peer", "other", "--states", "40", "--seed", "2", "--json", str(path)]
    assert compare.main(line) == 0
    shown = capsys.readouterr()
    assert "left over: 0 plays" in shown.out and f"Other {np.__version__}" in shown.out
    data = json.loads(path.read_text())
    assert data["command"] == "python eval/compare.py " + " ".join(line)
    assert {"python", "ddz_env", "numpy"} <= set(data["versions"])
    (other,) = data["peers"]
    assert [s["states"] for s in other["strata"]] == [10] * 4
    assert [s["equal_default"] for s in other["strata"]] == [10] * 4
    assert other["left_over"] == 0 and other["fields"] == other["faults"] == {}


def test_what_is_left_over_makes_the_exit_code_1(pretended, capsys):
    pretended(without_last)
    assert compare.main(["--peer", "other", "--states", "8"]) == 1
    shown = capsys.readouterr().out
    assert "left over: 8 plays" in shown and "we do not predict" in shown


@pytest.mark.parametrize("name", PEERS)
def test_what_is_not_installed(name, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, PEERS[name].module, None)
    assert compare.main(["--peer", name, "--states", "8"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert f"not installed: {name}" in shown.err and PEERS[name].install in shown.err


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (["--peer", "chess"], "chess"),
        (["--states", "0"], "--states"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_arguments(line, named, tmp_path, capsys):
    path = tmp_path / "peers.json"
    assert compare.main([*line, "--json", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and named in shown.err
    assert not path.exists()


def test_the_command_needs_no_engine_to_be_imported():
    """Importing it, or asking for an engine's rules, loads none of them."""
    code = (
        "import sys; from eval.compare import rules_for; rules_for('open_spiel');"
        "print({'rlcard', 'pyspiel', 'douzero', 'torch'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
