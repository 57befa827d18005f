"""Observations: every field decodes back to what it stands for, for random positions."""

import numpy as np
import pytest
from tables import NEED, many_positions, position, row_of

import ddz_env.features as features
from ddz_env import PRESETS, VecEnv
from ddz_env.action_features import encode_action
from ddz_env.cards import count_cards, deck, pack, unpack
from ddz_env.catalogue import ACTIONS, FIRST_PLAY, TABLES, Category
from ddz_env.decompose import FAST, plays_to_go, plays_to_go_wild
from ddz_env.features import (
    ACTION_FIELDS,
    ACTION_OFFSETS,
    ACTION_SIZE,
    CARDS,
    HISTORY,
    MAX_ACTION_BITS,
    MAX_STATE_BITS,
    STATE_FIELDS,
    STATE_OFFSETS,
    STATE_SIZE,
    dense,
    encode_state,
    schema_hash,
)
from ddz_env.state import Phase
from ddz_env.vector import encode_actions, encode_views

ROOMS = sorted(PRESETS)
SCHEMAS = {
    "state": (STATE_FIELDS, STATE_OFFSETS, STATE_SIZE),
    "action": (ACTION_FIELDS, ACTION_OFFSETS, ACTION_SIZE),
}


BEYOND = 12
"""Places after the last one that an encoder may write to."""


def state_bits(view):
    out = np.full(MAX_STATE_BITS + BEYOND, 65535, np.uint16)
    n = encode_state(view, TABLES, out, 0)
    assert np.all(out[n + BEYOND :] == 65535)
    return out[:n]


def action_bits(hand, action):
    out = np.full(MAX_ACTION_BITS + BEYOND, 65535, np.uint16)
    n = encode_action(hand, int(action), TABLES, out, 0)
    assert np.all(out[n + BEYOND :] == 65535)
    return out[:n]


def split(bits, schema):
    """The ones of every field, from its start: {name: int8[size]}."""
    fields, offsets, size = SCHEMAS[schema]
    assert len(set(bits.tolist())) == len(bits) and bits.max() < size
    row = dense(bits, size)
    assert row.sum() == len(bits)
    return {f.name: row[offsets[f.name] : offsets[f.name] + f.size] for f in fields}


def cards(ones):
    """The packed cards of 58 bits, which have to be a thermometer for each rank and the wilds."""
    counts = []
    for start in (*range(0, 52, 4), 54):
        held = ones[start : start + 4].tolist()
        assert held == sorted(held, reverse=True)
        counts.append(sum(held))
    counts[13:13] = ones[52:54].tolist()
    assert len(ones) == CARDS
    return pack([rank for rank, n in enumerate(counts) for _ in range(n)])


def one(ones):
    """The place of the only one."""
    assert ones.sum() == 1
    return int(ones.argmax())


# -------------------------------------------------------------------------------------- schema


@pytest.mark.parametrize("schema", SCHEMAS)
def test_fields_lie_side_by_side(schema):
    fields, offsets, size = SCHEMAS[schema]
    taken = np.zeros(size, np.int64)
    for field in fields:
        assert field.size > 0 and field.doc
        taken[offsets[field.name] : offsets[field.name] + field.size] += 1
    assert np.all(taken == 1)
    assert len(offsets) == len(fields) == len({field.name for field in fields})


def test_bits_fit_16_bits():
    assert max(STATE_SIZE, ACTION_SIZE) < 2**16


def test_schema_hash_changes_with_every_field(monkeypatch):
    before = schema_hash()
    hashes = {before}
    first, *rest = STATE_FIELDS
    for changed in (
        (first._replace(size=first.size + 1), *rest),
        (first._replace(name="other"), *rest),
        (*rest, first),
        tuple(rest),
    ):
        monkeypatch.setattr(features, "STATE_FIELDS", changed)
        hashes.add(schema_hash())
    monkeypatch.setattr(features, "STATE_FIELDS", STATE_FIELDS)
    monkeypatch.setattr(features, "ACTION_FIELDS", ACTION_FIELDS[:-1])
    hashes.add(schema_hash())
    monkeypatch.setattr(features, "ACTION_FIELDS", ACTION_FIELDS)
    monkeypatch.setattr(features, "SCHEMA_NAME", "ddz-obs-v9")
    hashes.add(schema_hash())
    assert len(hashes) == 7
    monkeypatch.undo()
    assert schema_hash() == before
    described = (STATE_FIELDS[0]._replace(doc="other words"), *rest)
    monkeypatch.setattr(features, "STATE_FIELDS", described)
    assert schema_hash() == before


# --------------------------------------------------------------------------------------- state


def last_of(view, seat):
    """The cards of a seat's last decision, when it is one of the last three of the deal."""
    n = int(view["n_history"])
    for i in range(n - 1, max(n - 4, -1), -1):
        if view["history_seat"][i] == seat:
            return int(view["history_cards"][i])
    return 0


@pytest.mark.parametrize("rules", ROOMS)
def test_states_decode_back(rules):
    views, _ = many_positions(rules, num_envs=80, stops=(0, 1, 2, 5, 11, 23, 40, 61, 90))
    phases = set()
    for view in views:
        seat = int(view["seat"])
        nxt, prv = (seat + 1) % 3, (seat + 2) % 3
        got = split(state_bits(view), "state")
        for name, packed in (
            ("hand", view["hand"]),
            ("unseen", view["unseen"]),
            ("shown_next", view["hands"][nxt]),
            ("shown_prev", view["hands"][prv]),
            ("bottom", view["bottom"]),
            ("to_beat", view["last_cards"]),
            ("last_next", last_of(view, nxt)),
            ("last_prev", last_of(view, prv)),
            ("played_self", view["played"][seat]),
            ("played_next", view["played"][nxt]),
            ("played_prev", view["played"][prv]),
            ("declared", NEED[view["pending"]]),
            ("filled", view["pending_wilds"]),
        ):
            assert cards(got[name]) == int(packed), name
        for place, relative in (("self", seat), ("next", nxt), ("prev", prv)):
            assert one(got[f"count_{place}"]) == view["counts"][relative]
        check_auction(view, got)
        landlord = int(view["landlord"])
        assert one(got["role"]) == (3 if landlord < 0 else (seat - landlord) % 3)
        assert one(got["bombs"]) == min(view["bombs"], 7)
        last = ACTIONS[view["last_action"]]
        assert one(got["category"]) == last["category"]
        assert one(got["length"]) == last["length"]
        assert one(got["phase"]) == view["phase"]
        assert one(got["base"]) == view["base"]
        wild = int(view["wild"])
        assert np.flatnonzero(got["wild"]).tolist() == ([wild] if wild >= 0 else [])
        assert (int(view["pending"]) > 0) == (view["phase"] == Phase.FILL)
        holder = int(view["last_seat"])
        assert holder != seat  # the seat on turn never answers its own play
        assert one(got["trick"]) == (0 if holder < 0 else {nxt: 1, prv: 2}[holder])
        phases.add(int(view["phase"]))
    assert {Phase(phase).name.lower() for phase in phases} == PHASES[rules]


PHASES = {
    "play_only": {"play"},
    "qq_classic": {"call_points", "play"},
    "jj_classic": {"call_points", "play"},
    "happy": {
        *("show_before_deal", "show_at_6", "show_at_12", "call", "rob"),
        *("show_after_bottom", "double", "play"),
    },
    "happy_blind": {"blind", "call", "show_after_bottom", "raise", "play"},
    "crazy_laizi": {"show_before_deal", "call", "rob", "show_after_bottom", "play", "fill"},
    "laidou": {"call_points", "play", "fill"},
}
PHASES["happy_laizi"] = PHASES["happy"] | {"fill"}


def check_auction(view, got):
    """What was decided before the play, each seat's part by itself."""
    seat = int(view["seat"])
    order = [seat, (seat + 1) % 3, (seat + 2) % 3]
    for name, size, values in (
        ("call", 5, view["calls"] + 1),
        ("rob", 3, view["robs"] + 1),
        ("show", 5, view["shows"]),
        ("double", 2, view["doubles"]),
        ("look", 2, view["looked"]),
    ):
        assert len(got[name]) == 3 * size
        for block, other in zip(got[name].reshape(3, size), order, strict=True):
            assert one(block) == values[other], name
    for name, whose in (("caller", "caller"), ("turned_seat", "turned_seat")):
        assert one(got[name]) == (order.index(view[whose]) if view[whose] >= 0 else 3)
    assert one(got["first"]) == order.index(view["first"])
    assert (one(got["blind"]), one(got["raises"])) == (view["blind"], view["raises"])
    assert one(got["multiplier"]) == min(int(view["multiplier"]).bit_length() - 1, 15)
    turned = int(view["turned_rank"])
    assert np.flatnonzero(got["turned"]).tolist() == ([turned] if turned >= 0 else [])


@pytest.mark.parametrize("rules", ROOMS)
def test_history_decodes_back(rules):
    views, _ = many_positions(rules, num_envs=60, stops=(0, 4, 15, 16, 40, 77))
    long = 0
    for view in views:
        blocks = split(state_bits(view), "state")["history"].reshape(HISTORY, CARDS)
        n = int(view["n_history"])
        long += n > HISTORY
        for back in range(HISTORY):
            i = n - 1 - back
            assert cards(blocks[back]) == (int(view["history_cards"][i]) if i >= 0 else 0)
    assert long > 20


def test_every_card_is_somewhere():
    """Hand, unseen and played are one deck, from every seat's side."""
    views, _ = many_positions(num_envs=60)
    for view in views:
        got = split(state_bits(view), "state")
        parts = ("hand", "unseen", "played_self", "played_next", "played_prev")
        assert sum(cards(got[name]) for name in parts) == pack(deck())
        assert one(got["count_self"]) == count_cards(cards(got["hand"]))
        assert got["unseen"].sum() == one(got["count_next"]) + one(got["count_prev"])


def test_no_card_left_is_not_twenty():
    """Played until a first game is over: 0, 17 and 20 cards are places of their own."""
    env = VecEnv(60, "play_only", seed=1, autoreset=False)
    seen = set()
    while not env.done.any():
        seen |= counts_of(env)
        env.step(env.sample())
    assert ("count_self", 20) in seen and ("count_self", 0) not in seen
    assert ("count_prev", 0) in counts_of(env)
    assert {count for _, count in seen} == set(range(1, 21))


def counts_of(env):
    """(field, place of its one) of all counts of a batch."""
    split_views = [split(state_bits(view), "state") for view in env.views()]
    names = ("count_self", "count_next", "count_prev")
    return {(name, one(got[name])) for got in split_views for name in names}


@pytest.mark.parametrize("rules", ROOMS)
def test_bits_stay_within_their_bounds(rules):
    """Over whole random games; the batch and one by one agree, and so does the dense form."""
    env = VecEnv(100, rules, seed=12)
    most_state = most_action = 0
    for step in range(150):
        views, legal = env.views(), env.legal()
        offsets = np.zeros(len(views) + 1, np.int64)
        bits = np.zeros(len(views) * MAX_STATE_BITS, np.uint16)
        encode_views(views, TABLES, offsets, bits)
        sizes = np.diff(offsets)
        most_state = max(most_state, sizes.max())
        if step % 10 == 0:
            whole = env.features()
            for i, view in enumerate(views):
                row = bits[offsets[i] : offsets[i + 1]]
                assert np.array_equal(row, state_bits(view))
                assert np.array_equal(dense(row, STATE_SIZE), whole[i])
        most_action = max(most_action, check_actions(views, legal, step))
        env.step(env.sample())
    assert 60 < most_state <= MAX_STATE_BITS
    assert 20 < most_action <= MAX_ACTION_BITS


def check_actions(views, legal, step):
    """The most ones of an action; now and then one by one against the batch."""
    n = len(legal.ids)
    offsets = np.zeros(n + 1, np.int64)
    bits = np.zeros(n * MAX_ACTION_BITS, np.uint16)
    hands = np.ascontiguousarray(views["hand"])
    encode_actions(hands, legal.offsets, legal.ids, TABLES, offsets, bits)
    if step % 30 == 0:
        owner = np.repeat(np.arange(len(views)), np.diff(legal.offsets))
        for j in range(0, n, 7):
            row = bits[offsets[j] : offsets[j + 1]]
            assert np.array_equal(row, action_bits(hands[owner[j]], legal.ids[j]))
    return np.diff(offsets).max()


# -------------------------------------------------------------------------------------- actions


@pytest.mark.parametrize("rules", ROOMS)
def test_actions_decode_back(rules):
    views, legal = many_positions(rules, num_envs=40)
    categories, made = set(), 0
    for i, view in enumerate(views):
        hand = view["hand"]
        for action in row_of(legal, i)[::3]:
            play = ACTIONS[action]
            got = split(action_bits(hand, action), "action")
            need, have = unpack(int(NEED[action])), unpack(int(hand))
            wilds = sum(max(n - h, 0) for n, h in zip(need[:15], have[:15], strict=True))
            counts = [max(h - n, 0) for n, h in zip(need[:15], have[:15], strict=True)]
            left = pack([rank for rank, n in enumerate(counts) for _ in range(n)])
            left += (have[15] - wilds) << 60
            assert cards(got["cards"]) == int(NEED[action])
            assert cards(got["left"]) == left
            assert count_cards(left) == count_cards(int(hand)) - sum(need)
            assert one(got["wilds"]) == wilds
            made += wilds > 0
            assert one(got["category"]) == play["category"]
            assert one(got["length"]) == play["length"]
            assert one(got["count"]) == count_cards(left)
            to_go = plays_to_go_wild if unpack(left)[15] else plays_to_go
            assert one(got["to_go"]) == min(to_go(np.uint64(left), FAST), 15)
            if action < FIRST_PLAY:
                assert one(got["choice"]) == action and got["rank"].sum() == 0
            else:
                assert got["choice"].sum() == 0 and one(got["rank"]) == play["rank"]
            categories.add(int(play["category"]))
    assert len(categories) >= 9 and Category.NONE in categories
    assert (made > 100) == (PRESETS[rules].wild != "none")


def test_the_last_play_leaves_nothing():
    views, legal = position("34567")
    bits = {int(a): split(action_bits(views[0]["hand"], a), "action") for a in legal.ids}
    out = [a for a, got in bits.items() if one(got["count"]) == 0]
    assert len(out) == 1 and one(bits[out[0]]["to_go"]) == 0
    assert bits[out[0]]["left"].sum() == 0 and bits[out[0]]["cards"].sum() == 5


def test_different_plays_have_different_features():
    views, legal = many_positions(num_envs=20, stops=(1, 30))
    for i, view in enumerate(views):
        ids = row_of(legal, i)
        rows = {tuple(sorted(action_bits(view["hand"], a).tolist())) for a in ids}
        assert len(rows) == len(ids)


def test_a_hidden_card_moves_no_feature():
    """Two unseen cards that the other seats swap leave the state's features as they are."""
    env = VecEnv(40, "play_only", seed=5)
    for _ in range(20):
        env.step(env.sample())
    before = env.features().copy()
    swapped = 0
    for state in env.states:
        a, b = (state["turn"] + 1) % 3, (state["turn"] + 2) % 3
        ranks = [r for r in range(13) if unpack(int(state["hands"][a]))[r]]
        others = [r for r in range(13) if unpack(int(state["hands"][b]))[r] and r != ranks[0]]
        if others:
            for rank, one_way, other in ((ranks[0], a, b), (others[0], b, a)):
                state["hands"][one_way] -= np.uint64(1 << 4 * rank)
                state["hands"][other] += np.uint64(1 << 4 * rank)
            swapped += 1
    assert swapped >= 30
    assert np.array_equal(env.features(), before)
