"""An observation holds every public fact of a view: `decode` gives them back, in every phase."""

import random

import numpy as np
import pytest
from reference_rules import CHAINS, WITH_KICKERS, parse, sort_cards
from walks import all_views, observations, odd_games, thirteen_bombs

from ddz_env import (
    PRESETS,
    FormatError,
    Game,
    action_id,
    action_text,
    decode,
    env,
    n_actions,
    schema,
)
from ddz_env.catalogue import FIRST_PLAY
from ddz_env.state import Phase
from ddz_env.view import VIEW

RANKS = "3456789TJQKA2XDW"
WIDE = PRESETS["play_only"].replace(
    kicker_adjacent_trio=True, kicker_four_solos=True, kicker_both_jokers=True
)
ROOMS = {**PRESETS, "wide": WIDE}
NOT_KEPT = {"deal", "redeals", "scores", "n_history", "spare"}
"""Fields of a view that an observation leaves out; of the history it keeps a part (`kept`)."""
HISTORY, N_DEFAULT = 15, n_actions("play_only")
CARDS = {"hand", "unseen", "bottom", "last_cards", "pending_wilds", "hands", "played"}
AT_ONCE = {
    *(Phase.SHOW_BEFORE_DEAL, Phase.SHOW_AT_6, Phase.SHOW_AT_12),
    *(Phase.SHOW_AFTER_BOTTOM, Phase.DOUBLE, Phase.OVER),
}
COPIES = {name: copies for copies, (name, _) in CHAINS.items()}
COPIES |= {"solo": 1, "pair": 2, "trio": 3, "bomb": 4, "rocket": 1}
PAIRS = set()
for main, kickers in WITH_KICKERS.items():
    COPIES |= {name: COPIES[main] for name, _, _ in kickers}
    PAIRS |= {name for name, size, _ in kickers if size == 2}


def split(row):
    """The fields of an observation."""
    return schema().split(row)


def text(packed):
    """The cards of a packed word, ranks ascending."""
    packed = int(packed)
    return "".join(RANKS[r] * (packed >> 4 * r & 15) for r in range(16)) if packed else ""


# ------------------------------------------------------------------- what a view says, to be kept


def kept(view):
    """The fields of a view that an observation keeps, as far as it keeps them, cards as texts."""
    whole = dict(zip(VIEW.names, view.tolist(), strict=True))
    facts = {name: value for name, value in whole.items() if name not in NOT_KEPT}
    for name, value in facts.items():
        if isinstance(value, (list, np.ndarray)):
            facts[name] = list(map(text if name in CARDS else int, value))
        elif name in CARDS:
            facts[name] = text(value)
    if whole["phase"] in AT_ONCE:
        facts["turn"] = None  # in which order seats choose at once says nothing
    facts["plays"] = [min(plays, 2) for plays in facts["plays"]]
    n, ids = whole["n_history"], facts["history_action"]
    first = next((i for i in range(n) if ids[i] >= FIRST_PLAY), n)
    last = range(n - 1, max(first, n - HISTORY) - 1, -1)
    facts["history_seat"] = [facts["history_seat"][i] for i in last]
    facts["history_action"] = [parse(action_text(ids[i]))[0] if ids[i] else "pass" for i in last]
    facts["history_cards"] = [text(whole["history_cards"][i]) for i in last]
    return facts


def last_cards(view, seat):
    """The cards of a seat's last decision of the deal, however long ago."""
    own = np.flatnonzero(view["history_seat"][: view["n_history"]] == seat)
    return text(view["history_cards"][own[-1]]) if len(own) else ""


# ------------------------------------------------------------ what an observation says of the view


def named(play, cards, own):
    """The id of a play of which the cards that it took are known, wild ones as `W`.

    Args:
        play: category, length and rank of its main part.
        cards: text of the cards.
        own: the wilds' own rank.
    """
    category, high = play["category"], RANKS.index(play["rank"])
    if category == "rocket":
        return action_id("XD")
    ranks = RANKS[high + 1 - play["length"] : high + 1]
    wilds = cards.count("W")
    wilds -= sum(COPIES[category] - min(cards.count(r), COPIES[category]) for r in ranks)
    kickers = [card for card in cards if card not in ranks + "W"]
    if category in PAIRS:  # a wild completes a pair
        alone = [card for card in kickers if kickers.count(card) == 1]
        kickers, wilds = kickers + alone, wilds - len(alone)
    kickers += [own] * wilds
    main = "".join(rank * COPIES[category] for rank in ranks)
    return action_id(main + "+" + "".join(kickers) if kickers else main)


def restored(facts, seat):
    """The fields of the view of a seat, from the facts that its observation decodes to."""
    seats = dict(zip(("self", "next", "prev", None), (seat, (seat + 1) % 3, (seat + 2) % 3, -1),
                     strict=True))  # fmt: skip

    def by_seat(values):
        return [values[(other - seat) % 3] for other in range(3)]

    over = facts["phase"] == "over"
    turn, holder = facts["turn"], seats[facts["trick"]]
    before = holder if over else seats[turn] - 1  # who decided last, in the play
    landlord = {"landlord": 0, "landlord_down": -1, "landlord_up": 1, None: None}[facts["role"]]
    out = [k for k, count in enumerate(by_seat(facts["counts"])) if count == 0]
    play, declared = facts["to_beat_play"], facts["declared_play"]
    own = facts["wild"] or ""
    return {
        "hand": facts["hand"],
        "hands": by_seat([facts["hand"], facts["shown_next"], facts["shown_prev"]]),
        "unseen": facts["unseen"],
        "bottom": facts["bottom"],
        "played": by_seat([facts[f"played_{who}"] for who in ("self", "next", "prev")]),
        "last_cards": facts["to_beat"],
        "pending_wilds": facts["filled"],
        "multiplier": facts["multiplier"],
        "counts": by_seat(facts["counts"]),
        "seat": seat,
        "phase": Phase[facts["phase"].upper()],
        "turn": None if turn is None else seats[turn],
        "first": seats[facts["first"]],
        "landlord": -1 if landlord is None else (seat + landlord) % 3,
        "caller": seats[facts["caller"]],
        "turned_rank": RANKS.index(facts["turned"]) if facts["turned"] else -1,
        "turned_seat": seats[facts["turned_seat"]],
        "calls": by_seat(facts["calls"]),
        "robs": by_seat(facts["robs"]),
        "looked": by_seat(facts["looks"]),
        "shows": by_seat(facts["shows"]),
        "doubles": by_seat(facts["doubles"]),
        "blind": facts["blind"],
        "raises": facts["raises"],
        "base": facts["base"],
        "wild": {None: -1, "jokers": 13}.get(own or None, RANKS.find(own)),
        "bombs": facts["bombs"],
        "plays": by_seat(facts["plays"]),
        "passes": 0 if over or holder < 0 else (seats[turn] - holder - 1) % 3,
        "last_seat": holder,
        "winner": out[0] if over and out else -1,
        "last_action": named(play, facts["to_beat"], own) if play else 0,
        "pending": named(declared, facts["declared"], own) if declared else 0,
        "history_seat": [(before - k) % 3 for k in range(len(facts["history"]))],
        "history_action": [category for category, _ in facts["history"]],
        "history_cards": [cards for _, cards in facts["history"]],
    }  # fmt: skip


def check(view, row):
    """Compare the facts of one observation with those of its view."""
    facts, seat = decode(row), int(view["seat"])
    assert restored(facts, seat) == kept(view)
    assert facts["last_next"] == last_cards(view, (seat + 1) % 3)
    assert facts["last_prev"] == last_cards(view, (seat + 2) % 3)


PHASES = {
    "play_only": {"play"},
    "wide": {"play"},
    "qq_classic": {"call_points", "play"},
    "jj_classic": {"call_points", "play"},
    "happy": {
        *("show_before_deal", "show_at_6", "show_at_12", "call", "rob"),
        *("show_after_bottom", "double", "play"),
    },
    "happy_blind": {"blind", "call", "show_after_bottom", "raise", "play"},
    "crazy_laizi": {"show_before_deal", "call", "rob", "show_after_bottom", "play"},
    "laidou": {"call_points", "play"},
}
PHASES["happy_laizi"] = PHASES["happy"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_fact_comes_back(room):
    """From every seat, on turn or not, from the first decision to the end of a deal."""
    seen, long, wide = set(), 0, 0
    for step, batch in enumerate(odd_games(ROOMS[room], 20, seed=4)):
        views = all_views(batch)[step % 2 :: 2]
        for view, row in zip(views, observations(views), strict=True):
            check(view, row)
            seen.add((Phase(int(view["phase"])).name.lower(), bool(view["seat"] == view["turn"])))
            long += int(view["n_history"]) > HISTORY + 9
            wide += int(view["last_action"]) >= N_DEFAULT
    wanted = {(phase, mine) for phase in PHASES[room] | {"over"} for mine in (True, False)}
    if PRESETS.get(room, WIDE).wild != "none":
        wanted.add(("fill", True))  # the others see it still on turn to play
    assert seen == wanted
    assert long > 100
    assert (wide > 0) == (room == "wide")


@pytest.mark.parametrize(
    "room", [name for name, rules in PRESETS.items() if rules.auction != "none"]
)
def test_a_deal_without_a_landlord(room):
    """Everybody refuses to the end: void, or in laidou the first bidder's."""
    game = Game(PRESETS[room].replace(max_redeals=1), seed=3)
    while game.phase not in ("over", "play"):
        game.step("look" if "look" in game.legal() else "pass")
        for seat, row in enumerate(rows_of(game)):
            check(game.view(seat), row)
            if game.over:
                facts = decode(row)
                assert (facts["role"], facts["turn"], facts["trick"]) == (None, None, None)
    assert (game.phase == "over") == (room != "laidou")


def rows_of(game):
    """The observation of each seat."""
    return observations(np.array([game.view(seat) for seat in range(3)]))


@pytest.mark.parametrize("robs", [2, 3])
def test_thirteen_bombs(robs):
    """As many as three hands hold, all of them worth 4: nothing is cut off."""
    for n, game in enumerate(thirteen_bombs(robs)):
        for seat, row in enumerate(rows_of(game)):
            check(game.view(seat), row)
            facts = decode(row)
            assert facts["bombs"] == n and facts["multiplier"] == 5 * 2**robs * 4**n
    assert game.over and n == 13 and game.winner == game.landlord == 0


def test_no_card_left_is_not_twenty():
    """Nor are 17 and none dealt yet: each count has a place of its own, seen from every seat."""
    rows = {seat: {} for seat in range(3)}
    for game in thirteen_bombs(2):
        for seat, row in enumerate(rows_of(game)):
            facts = decode(row)
            for k, count in enumerate(facts["counts"]):
                field = split(row)[f"count_{('self', 'next', 'prev')[k]}"]
                assert field.sum() == 1
                rows[(seat + k) % 3].setdefault(count, set()).add(int(field.argmax()))
    assert rows[0].keys() == {0, 4, 8, 12, 16, 20}
    assert all(places == {count} for counts in rows.values() for count, places in counts.items())


def test_a_pass_is_not_nothing():
    """Latest first: a pass is a decision without cards; before the first play is nothing."""
    game = Game("qq_classic", seed=2, first=0)
    for choice in ("pass", "call_3"):
        game.step(choice)
    assert decode(rows_of(game)[0])["history"] == []
    lead = game.legal()[0]
    for choice in (lead, "pass", "pass"):
        game.step(choice)
    for seat, row in enumerate(rows_of(game)):
        assert decode(row)["history"] == [("pass", ""), ("pass", ""), ("solo", lead)]
        assert decode(row)["turn"] == ("self", "next", "prev")[(1 - seat) % 3]
        parts = split(row)
        assert parts["history_category"].sum(1).tolist() == [1, 1, 1] + [0] * 12
        assert parts["history"][:2].sum() == 0
        assert decode(row)["to_beat_play"] is None


def test_the_history_is_fifteen_decisions():
    """The sixteenth back drops out, the fifteenth is still there."""
    game, rng = Game("play_only", seed=6), random.Random(1)
    while len(game.history) < 40 and not game.over:
        game.step(rng.choice(game.legal()[:2]))
    wanted = [
        "" if text == "pass" else sort_cards(text.replace("+", "")) for _, text in game.history
    ]
    assert len(wanted) == 40 and "" in wanted[-15:]
    for row in rows_of(game):
        assert [cards for _, cards in decode(row)["history"]] == wanted[:-16:-1]


def only(name):
    """A row with the first number of one field set."""
    row = np.zeros(schema().size)
    row[schema().offsets[name]] = 1
    return row


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(3), r"ddz-obs-v1: expected one row of \d+, got \[3\]"),
        (np.zeros((2, schema().size)), r"expected one row of \d+, got \[2, \d+\]"),
        ({"observation": 1}, "expected one row, got a dictionary: pass its 'observation'"),
        ([[1], [1, 2]], r"expected one row of \d+, got \[\]"),
        (only("phase"), "expected a row with one number of cards a seat"),
        (np.full(schema().size, 7), "expected numbers 0 and 1, got 7"),
        (np.zeros(schema().size), "expected a row with one phase, got 0"),
    ],
)
def test_what_is_no_observation(bad, message):
    with pytest.raises(FormatError, match=message):
        decode(bad)


def test_an_environment_gives_what_decodes():
    """The observation of every agent is that of its seat's view."""
    environment = env(rules="happy")
    environment.reset(seed=2)
    for agent in environment.agent_iter(max_iter=30):
        game = environment.unwrapped.game
        for seat, other in enumerate(environment.agents):
            row = environment.observe(other)["observation"]
            assert restored(decode(row), seat) == kept(game.view(seat))
        environment.step(int(environment.infos[agent]["legal_actions"][-1]))
