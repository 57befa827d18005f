"""Observations: their schemas, their bounds, and what the features of an action stand for.

That an observation holds what a seat may know is in test_decode.py.
"""

import hashlib
from itertools import chain

import numpy as np
import pytest
from deals import fixed_choice
from tables import NEED, many_positions, position, row_of
from walks import (
    BEYOND,
    all_views,
    observations,
    odd_games,
    thirteen_bombs,
    three_wilds_filled,
)

import ddz_env.features as features
from ddz_env import PRESETS, DdzError, FormatError, Game, VecEnv, action_id, schema
from ddz_env._jit import records
from ddz_env.action_features import encode_action
from ddz_env.cards import count_cards, deck, pack, unpack
from ddz_env.catalogue import ACTIONS, FIRST_PLAY, TABLES, Category
from ddz_env.decompose import FAST, plays_to_go, plays_to_go_wild
from ddz_env.features import (
    MAX_ACTION_BITS,
    MAX_STATE_BITS,
    dense,
    encode_state,
    schema_hash,
)
from ddz_env.schema import Field, Schema
from ddz_env.state import Phase
from ddz_env.vector import encode_actions
from ddz_env.view import VIEW

ROOMS = sorted(PRESETS)
STATE, ACTION, CRITIC = schema(), schema("action"), schema("critic")
SCHEMAS = {table.name: table for table in (STATE, ACTION, CRITIC)}
FROZEN = {
    "ddz-obs-v1": "6786a0f37ad0",
    "ddz-act-v1": "784635cce228",
    "ddz-critic-v1": "782c2b94736b",
}
"""Names and hashes. A change of a hash takes a new version, never the old name."""
MEANING = "49751470a10824d4"
"""Digest of the observations of some deals: the same hash may not come to mean something else."""


def state_bits(view):
    """The ones of a view, in the order of the encoder, which writes no further than it says."""
    out = np.full(MAX_STATE_BITS + BEYOND, 65535, np.uint16)
    n = encode_state(view, TABLES, out, 0)
    assert np.all(out[n + BEYOND :] == 65535)
    return out[:n]


def action_bits(hand, action):
    """The ones of an action, likewise."""
    out = np.full(MAX_ACTION_BITS + BEYOND, 65535, np.uint16)
    n = encode_action(hand, int(action), TABLES, out, 0)
    assert np.all(out[n + BEYOND :] == 65535)
    return out[:n]


def parts_of(hand, action):
    """The features of an action by name."""
    bits = action_bits(hand, action)
    row = dense(bits, ACTION.size)
    assert row.sum() == len(bits)
    return ACTION.split(row)


def cards(ones):
    """The packed cards of 58 bits, which have to be a thermometer for each rank and the wilds."""
    counts = []
    for start in (*range(0, 52, 4), 54):
        held = ones[start : start + 4].tolist()
        assert held == sorted(held, reverse=True)
        counts.append(sum(held))
    counts[13:13] = ones[52:54].tolist()
    assert len(ones) == 58
    return pack([rank for rank, n in enumerate(counts) for _ in range(n)])


def one(ones):
    """The place of the only one."""
    assert ones.sum() == 1
    return int(ones.argmax())


# -------------------------------------------------------------------------------------- schemas


@pytest.mark.parametrize("name", SCHEMAS)
def test_fields_lie_side_by_side(name):
    table = SCHEMAS[name]
    taken = np.zeros(table.size, np.int64)
    for field in table.fields:
        assert field.size > 0 and field.doc and (field.low, field.high) == (0, 1)
        taken[table.offsets[field.name] : table.offsets[field.name] + field.size] += 1
    assert np.all(taken == 1) and table.size < 2**16
    assert len(table.offsets) == len(table.fields)
    parts = table.split(np.arange(table.size))
    assert np.array_equal(np.concatenate([part.reshape(-1) for part in parts.values()]),
                          np.arange(table.size))  # fmt: skip
    assert {f.name: f.shape for f in table.fields} == {k: v.shape for k, v in parts.items()}


def test_schemas_are_frozen():
    assert {table.name: table.hash for table in SCHEMAS.values()} == FROZEN


def test_the_hash_changes_with_everything_but_words():
    one, two = Field("one", (2, 3), "some"), Field("two", (6,), "more")
    same = Schema("name-v1", (one._replace(doc="other words"), two))
    assert same.hash == Schema("name-v1", (one, two)).hash
    others = [
        Schema("name-v2", (one, two)),
        Schema("name-v1", (two, one)),
        Schema("name-v1", (one,)),
        Schema("name-v1", (one._replace(name="other"), two)),
        Schema("name-v1", (one._replace(shape=(3, 2)), two)),
        Schema("name-v1", (one._replace(shape=(2, 4)), two)),
        Schema("name-v1", (one._replace(low=-1), two)),
        Schema("name-v1", (one._replace(high=2), two)),
    ]
    assert len({same.hash, *(other.hash for other in others)}) == 1 + len(others)


def test_the_hash_of_both_schemas_changes_with_each(monkeypatch):
    hashes = {schema_hash()}
    for name in ("OBSERVATION", "ACTION"):
        with monkeypatch.context() as patch:
            whole = getattr(features, name)
            patch.setattr(features, name, Schema(whole.name, whole.fields[:-1]))
            hashes.add(schema_hash())
    assert len(hashes) == 3 and schema_hash() in hashes


def test_a_schema_splits_and_spans_its_rows():
    table = Schema("name-v1", (Field("one", (2, 3), "some", -1, 5), Field("two", (1,), "more")))
    rows = np.arange(14, dtype=np.int8).reshape(2, 7)
    parts = table.split(rows)
    assert parts["one"].tolist() == [[[0, 1, 2], [3, 4, 5]], [[7, 8, 9], [10, 11, 12]]]
    assert parts["two"].tolist() == [[6], [13]]
    space, by_name = table.space(), table.space("dict")
    for row in ([-1, 5, 5, 5, 5, 5, 1], [-1, 5, 5, 5, 5, 5, 2], [-2, 5, 5, 5, 5, 5, 1]):
        row = np.array(row, np.int8)
        assert (
            space.contains(row)
            == by_name.contains(table.split(row))
            == (row[[0, 6]] == [-1, 1]).all()
        )
    assert STATE.space("dict").contains(STATE.split(VecEnv(1).features()[0]))
    assert "one    0       2 x 3  -1..5  some" in str(table)


def test_bad_questions_are_named():
    with pytest.raises(DdzError, match=r"schema: expected one of observation, .*, got 'state'"):
        schema("state")
    with pytest.raises(DdzError, match="form: expected one of dense, dict, got 'flat'"):
        STATE.space("flat")
    with pytest.raises(FormatError, match=r"ddz-obs-v1: expected \[..., \d+\], got \[2, 3\]"):
        STATE.split(np.zeros((2, 3)))


def test_the_meaning_is_frozen():
    """What every seat sees of three deals, decision by decision."""
    digest = hashlib.sha256()
    for room in ("happy_laizi", "happy_blind", "jj_classic"):
        game, ply = Game(room, seed=5), 0
        while not game.over:
            views = np.array([game.view(seat) for seat in range(3)])
            digest.update(observations(views).tobytes())
            for action in game.legal_ids()[:5]:
                digest.update(dense(action_bits(views[game.seat]["hand"], action), ACTION.size))
            game.step(fixed_choice(game.legal_ids(), ply))
            ply += 1
    assert digest.hexdigest()[:16] == MEANING, "a new meaning is a new version of the schema"


# ------------------------------------------------------------------------------- bits and bounds

ONE = {
    *("count_self", "count_next", "count_prev", "plays", "bombs", "role", "turn", "trick"),
    *("category", "length", "phase", "call", "rob", "show", "double", "look", "caller", "first"),
    *("blind", "raises", "turned_seat", "base"),
}
"""Questions with one answer each; the others hold cards, digits, or an answer or none."""
ONE_OR_NONE = {
    *("rank", "turned", "wild", "declared_category", "declared_length", "declared_rank"),
    "history_category",
}
FOURTHS = {*range(3, 52, 4)}
NO_PRESET = {
    "bottom": (FOURTHS | {57}, "the bottom cards are three"),
    "bombs": ({14}, "hands of 20, 17 and 17 cards have thirteen bombs at most"),
    "wild": ({13}, "the jokers are wild in a custom room only"),
    "declared": ({*range(54, 58)}, "a declared play names ranks, wild cards are not among them"),
    "declared_category": ({0, Category.ROCKET}, "what is filled is a play that wilds can make"),
    "declared_length": ({0}, "what is filled is a play"),
    "declared_rank": ({13, 14}, "wilds make no joker"),
    "filled": (
        FOURTHS | {*range(52, 58)},
        "ranks only, three at most: who is asked has another wild",
    ),
    "multiplier": ({*range(32, 49)}, "at most 5 * 2**3 * 4**13: a show, robs, bombs"),
}
"""Places that are 0 in every observation of a preset, and why."""
NO_ACTION = {
    "choice": ({*range(25, 64)}, "free for more choices; `wait` is never asked for features"),
    "cards": ({*range(54, 58)}, "the cards of an action are as declared"),
    "to_go": ({13, 14, 15}, "a hand of 20 cards never needs more than twelve plays"),
}


def count_listed(batch, seen):
    """Add to `seen` how often each bit of an action is set among the listed ones."""
    legal, views = batch.legal(), batch.views()
    offsets = np.zeros(len(legal.ids) + 1, np.int64)
    bits = np.zeros(len(legal.ids) * MAX_ACTION_BITS, np.uint16)
    hands = np.ascontiguousarray(views["hand"])
    n = encode_actions(hands, legal.offsets, legal.ids, TABLES, offsets, bits)
    assert np.diff(offsets).max(initial=0) <= MAX_ACTION_BITS - BEYOND
    seen += np.bincount(bits[:n], minlength=len(seen))


def check_answers(rows):
    """One answer to each question, and cards are thermometers."""
    parts = STATE.split(rows)
    for name, ones in parts.items():
        if name in ONE:
            assert (ones.sum(-1) == 1).all(), name
        elif name in ONE_OR_NONE:
            assert (ones.sum(-1) <= 1).all(), name
        elif name != "multiplier":
            assert ones.shape[-1] == 58
            ranks, wilds = ones[..., :52].reshape(*ones.shape[:-1], 13, 4), ones[..., 54:]
            assert (np.diff(ranks, axis=-1) <= 0).all() and (np.diff(wilds, axis=-1) <= 0).all()


def test_every_bit_is_set_somewhere():
    """By odd games of all presets, or it stands in a list with the reason why it can't be."""
    seen, listed = np.zeros(STATE.size, np.int64), np.zeros(ACTION.size, np.int64)
    for seed, rules in enumerate(PRESETS.values()):
        for step, batch in enumerate(odd_games(rules, 500 if rules.wild != "none" else 200, seed)):
            rows = observations(all_views(batch))
            seen += rows.sum(0, dtype=np.int64)
            if step % 3 == 0:
                check_answers(rows)
                count_listed(batch, listed)
    rare = chain(thirteen_bombs(2), thirteen_bombs(3), three_wilds_filled())
    views = np.array([game.view(seat) for game in rare for seat in range(3)])
    seen += observations(views).sum(0, dtype=np.int64)
    for table, counts, never in ((STATE, seen, NO_PRESET), (ACTION, listed, NO_ACTION)):
        for name, ones in table.split(counts).items():
            places, _ = never.get(name, (set(), ""))
            assert {*np.flatnonzero(ones == 0).tolist()} - places == set(), name
            assert not ones.reshape(-1)[sorted(places)].any(), name


def test_a_custom_room_has_wild_jokers():
    rules = PRESETS["laidou"].replace(wild="jokers")
    assert one(STATE.split(observations(Game(rules).view()[None]))["wild"][0]) == 13


def test_the_bounds_hold_for_more_than_a_game_can_hold():
    """A view with everything at once, in as many bits as each part can take."""
    view = records(VIEW, 1)[0]
    whole = deck()
    view["played"] = [pack(part) for part in np.split(whole, [20, 40])]
    rows = np.split(whole, [20, 40, *range(41, 53)])  # the last 15 decisions, all with cards
    view["history_cards"][:15] = [pack(row) for row in reversed(rows)]
    view["history_action"][:15], view["n_history"] = FIRST_PLAY, 15
    view["bottom"], view["last_cards"] = pack([12] * 3), pack(whole[:20])
    view["pending"] = view["last_action"] = action_id("333444555666777+89TJQ")
    view["pending_wilds"] = pack([0, 1, 2, 3])
    view["phase"], view["multiplier"] = Phase.FILL, 2**48 - 1
    n = len(state_bits(view))
    assert n == 54 + 3 + 3 * 20 + 20 + 4 + 54 + 15 + 40 + 48 <= MAX_STATE_BITS - BEYOND
    assert len(action_bits(pack(whole[:20]), 0)) == 20 + 6 <= MAX_ACTION_BITS - BEYOND


@pytest.mark.parametrize("rules", ROOMS)
def test_a_batch_is_its_rows(rules):
    """States and actions one by one, in batches and dense are the same."""
    env = VecEnv(40, rules, seed=12)
    for step in range(90):
        if step % 10 == 0:
            views, legal = env.views(), env.legal()
            rows = observations(views)
            assert np.array_equal(env.features(), rows)
            for view, row in zip(views, rows, strict=True):
                assert np.array_equal(dense(state_bits(view), STATE.size), row)
            check_actions(views, legal)
        env.step(env.sample())


def check_actions(views, legal):
    """Every seventh listed action one by one against the batch."""
    n = len(legal.ids)
    offsets = np.zeros(n + 1, np.int64)
    bits = np.zeros(n * MAX_ACTION_BITS, np.uint16)
    hands = np.ascontiguousarray(views["hand"])
    encode_actions(hands, legal.offsets, legal.ids, TABLES, offsets, bits)
    owner = np.repeat(np.arange(len(views)), np.diff(legal.offsets))
    for j in range(0, n, 7):
        row = bits[offsets[j] : offsets[j + 1]]
        assert np.array_equal(row, action_bits(hands[owner[j]], legal.ids[j]))


# -------------------------------------------------------------------------------------- actions


@pytest.mark.parametrize("rules", ROOMS)
def test_actions_decode_back(rules):
    views, legal = many_positions(rules, num_envs=40)
    categories, made = set(), 0
    for i, view in enumerate(views):
        hand = view["hand"]
        for action in row_of(legal, i)[::3]:
            play = ACTIONS[action]
            got = parts_of(hand, action)
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
            assert one(got["to_go"]) == to_go(np.uint64(left), FAST)
            if action < FIRST_PLAY:
                assert one(got["choice"]) == action and got["rank"].sum() == 0
            else:
                assert got["choice"].sum() == 0 and one(got["rank"]) == play["rank"]
            categories.add(int(play["category"]))
    assert len(categories) >= 9 and Category.NONE in categories
    assert (made > 100) == (PRESETS[rules].wild != "none")


def test_the_last_play_leaves_nothing():
    views, legal = position("34567")
    parts = {int(a): parts_of(views[0]["hand"], a) for a in legal.ids}
    out = [a for a, got in parts.items() if one(got["count"]) == 0]
    assert len(out) == 1 and one(parts[out[0]]["to_go"]) == 0
    assert parts[out[0]]["left"].sum() == 0 and parts[out[0]]["cards"].sum() == 5


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
