"""What a seat can't see leaves no trace in its view, features or legal choices, in any phase."""

import random

import numpy as np
import pytest
from deals import choose
from tables import features

from ddz_env import PRESETS, Game
from ddz_env.cards import WILD, pack, to_text
from ddz_env.view import VIEW

RANKS = "3456789TJQKA2XDW"
DEALT = {"show_before_deal": 0, "show_at_6": 6, "show_at_12": 12}
AT_ONCE = (*DEALT, "show_after_bottom", "double")
PHASES = {
    "play_only": {"play", "over"},
    "qq_classic": {"call_points", "play", "over"},
    "jj_classic": {"call_points", "play", "over"},
    "happy": {*AT_ONCE, "call", "rob", "play", "over"},
    "happy_blind": {"blind", "call", "show_after_bottom", "raise", "play", "over"},
    "grabs with shows": {
        "show_at_6",
        "blind",
        "call",
        "show_after_bottom",
        "raise",
        "play",
        "over",
    },
    "everybody shows": {*AT_ONCE, "call", "rob", "play", "over"},
    "turned card hidden": {"call_points", "play", "over"},
    "happy_laizi": {*AT_ONCE, "call", "rob", "play", "over"},
    "crazy_laizi": {"show_before_deal", "call", "rob", "show_after_bottom", "play", "over"},
    "laidou": {"call_points", "play", "over"},
}
ROOMS = {
    **PRESETS,
    "grabs with shows": PRESETS["happy_blind"].replace(show_at_6=3, shower="everybody"),
    "everybody shows": PRESETS["happy"].replace(shower="everybody", max_redeals=1),
    "turned card hidden": PRESETS["jj_classic"].replace(turned_card_public=False),
}


def walk(room, seeds):
    """Every decision of some deals, their ends too; before the play yes is as likely as no."""
    for seed in seeds:
        rng = random.Random(seed)
        game = Game(room, seed=seed)
        while not game.over:
            yield game
            game.step(choose_in(game.phase, rng, game.legal()))
        yield game


def choose_in(phase, rng, legal):
    """A long play often; a show more rarely than none, so that hands stay hidden."""
    if phase == "play":
        return choose(rng, legal)
    return "pass" if phase in DEALT and rng.random() < 0.6 else rng.choice(legal)


def sees_hand(game, seat, other):
    """Whether a seat sees the cards of a hand that have been dealt (rules, end of par. 3)."""
    state = game.state
    if state["shows"][other]:
        return True
    before_look = game.rules.auction == "blind" and game.landlord is None
    return seat == other and not (before_look and not state["looked"][seat])


def places(game, seat):
    """Places of the deck that a seat sees and doesn't see, while no card has been played."""
    dealt = DEALT.get(game.phase, 17)
    seen = []
    for other in range(3):
        if sees_hand(game, seat, other):
            seen += range(17 * other, 17 * other + dealt)
    if game.landlord is not None:
        seen += range(51, 54)
    turned = int(game.state["turned"])
    if turned >= 0 and game.rules.turned_card_public and turned not in seen:
        seen.append(turned)
    return seen, [place for place in range(54) if place not in seen]


def swap_places(rng, game, one, two):
    """A copy with two different cards exchanged between places of the deck, or None."""
    deck = game.state["deck"]
    pairs = [(i, j) for i in one for j in two if deck[i] != deck[j]]
    if not pairs:
        return None
    i, j = rng.choice(pairs)
    other = game.clone()
    state = other.state
    state["deck"][i], state["deck"][j] = deck[j], deck[i]
    cards = state["deck"].copy()
    if game.rules.wild == "rank":
        cards[cards == state["wild"]] = WILD
    for seat in range(3):
        state["hands"][seat] = pack(cards[17 * seat : 17 * seat + 17])
    state["bottom"] = pack(cards[51:])
    if other.landlord is not None:
        state["hands"][other.landlord] += state["bottom"]
    return other


def swap_hands(rng, game, seat):
    """A copy with two cards exchanged between hidden hands (and bottom), once cards are played."""
    other = game.clone()
    state = other.state
    hidden = [("hands", s) for s in range(3) if not sees_hand(game, seat, s)]
    if game.landlord is None:
        hidden.append(("bottom", ()))
    if len(hidden) < 2:
        return None
    one, two = rng.sample(hidden, 2)
    texts = [to_text(int(state[name][index])) for name, index in (one, two)]
    pairs = [(a, b) for a in texts[0] for b in texts[1] if a != b]
    if not pairs:
        return None
    a, b = (np.uint64(1) << np.uint64(4 * RANKS.index(card)) for card in rng.choice(pairs))
    for (name, index), gives, gets in ((one, a, b), (two, b, a)):
        state[name][index] = state[name][index] - gives + gets
    turned = int(state["turned"])
    card = state["deck"][turned]
    rng.shuffle(state["deck"])
    if turned >= 0:
        state["deck"][turned] = card
    return other


@pytest.mark.parametrize("room", ROOMS)
def test_hidden_cards_leave_no_trace(room):
    """Other hands, cards not dealt yet, own cards before a look, the bottom, the key, the deck."""
    rng = random.Random(7)
    checked = {}
    for game in walk(ROOMS[room], range(40)):
        playing = game.phase in ("play", "over")
        for seat in range(3):
            if playing:
                other = swap_hands(rng, game, seat)
            else:
                hidden = places(game, seat)[1]
                other = swap_places(rng, game, hidden, hidden)
            if other is None:
                continue
            other.state["seed"] = rng.randrange(2**63)
            other.state["draws"] = rng.randrange(2**20)
            assert other.to_bytes() != game.to_bytes()
            assert other.view(seat).tobytes() == game.view(seat).tobytes()
            assert features(other.view(seat)) == features(game.view(seat))
            key = game.phase, seat == game.seat
            checked[key] = checked.get(key, 0) + 1
    assert {phase for phase, _ in checked} == PHASES[room]
    assert min(count for (phase, _), count in checked.items() if phase != "over") >= 15, checked


@pytest.mark.parametrize("room", ROOMS)
def test_seen_cards_do_leave_a_trace(room):
    """Exchanged for a hidden one, each card that a seat sees changes view and features.

    Own cards, shown hands as far as they are dealt, open bottom cards, the turned card.
    """
    rng = random.Random(8)
    phases, whose = set(), set()
    for game in walk(ROOMS[room], range(25)):
        if game.phase in ("play", "over"):
            continue
        for seat in range(3):
            seen, hidden = places(game, seat)
            for place in rng.sample(seen, min(6, len(seen))):
                other = swap_places(rng, game, [place], hidden)
                if other is None:
                    continue
                assert other.view(seat).tobytes() != game.view(seat).tobytes()
                assert features(other.view(seat)) != features(game.view(seat))
                phases.add(game.phase)
                whose.add("bottom" if place > 50 else "own" if place // 17 == seat else "other")
    # Nothing is seen before the deal, and while cards are dealt that nobody may look at yet.
    nothing = DEALT if ROOMS[room].auction == "blind" else {"show_before_deal"}
    assert phases == PHASES[room] - {*nothing, "play", "over"}
    shows = any(phase.startswith("show") for phase in phases)
    if phases:
        wanted = {"own"} | ({"bottom", "other"} if shows else set())
        assert whose >= wanted


@pytest.mark.parametrize("room", ["happy", "everybody shows", "grabs with shows"])
def test_choices_made_at_once_stay_hidden(room):
    """Whatever a seat has chosen, nobody sees a difference until the last one has chosen."""
    rng = random.Random(9)
    checked = dict.fromkeys(PHASES[room] & set(AT_ONCE), 0)
    for game in walk(ROOMS[room], range(60)):
        if game.phase not in AT_ONCE:
            assert game.asked == ([] if game.over else [game.seat])
            continue
        asked = game.asked
        assert asked[0] == game.seat and asked == sorted(asked)
        if len(asked) == 1:
            continue
        yes, no = game.clone(), game.clone()
        yes.step(game.phase.partition("_")[0])
        no.step("pass")
        later = asked[1:]
        while later:
            assert yes.asked == no.asked == later
            assert yes.legal() == no.legal() == game.legal()
            assert (yes.history, yes.multiplier) == (game.history, game.multiplier)
            for seat in range(3):
                assert yes.view(seat).tobytes() == no.view(seat).tobytes()
                before, after = game.view(seat), yes.view(seat)
                before["turn"] = after["turn"]
                assert before.tobytes() == after.tobytes()
                assert features(before) == features(after)
            choice = rng.choice(game.legal())
            yes.step(choice)
            no.step(choice)
            later = later[1:]
            checked[game.phase] += 1
        seats, texts = zip(*yes.history[-len(asked) :], strict=True)
        assert list(seats) == asked and texts[0] == game.phase.partition("_")[0]
        assert all(yes.view(s).tobytes() != no.view(s).tobytes() for s in range(3))
    counts = [n for phase, n in checked.items() if phase != "show_after_bottom"]
    assert min(counts) > 10
    assert (checked.get("show_after_bottom", 0) > 10) == (ROOMS[room].shower == "everybody")


def test_what_a_seat_sees_while_the_cards_are_dealt():
    """Three seats show at three moments; the others see what has been dealt of that hand."""
    hands = ["4356789TJQKA2X345", "65789TJQKA2D36789", "TJQKA23456789TJQK"]
    deal = {"hands": hands, "bottom": "A24"}
    game = Game("happy", first=0, deal=deal)

    def seen(seat):
        return [to_text(int(hand)) for hand in game.view(seat)["hands"]]

    def dealt(n):
        return ["".join(sorted(hand[:n], key=RANKS.index)) for hand in hands]

    assert [seen(seat) for seat in range(3)] == [["", "", ""]] * 3
    assert (game.view(0)["counts"] == 0).all()
    for choice in ("pass", "show", "pass"):
        game.step(choice)
    for n, phase, choices in ((6, "show_at_6", "sp"), (12, "show_at_12", "p"), (17, "call", "")):
        assert game.phase == phase
        own, shown = dealt(n), [seat for seat in range(3) if game.state["shows"][seat]]
        for seat in range(3):
            wanted = [own[s] if s == seat or s in shown else "" for s in range(3)]
            assert seen(seat) == wanted
            view = game.view(seat)
            assert view["counts"].tolist() == [n] * 3
            assert sum(map(len, wanted)) + len(to_text(int(view["unseen"]))) == 54
        for letter in choices:
            game.step({"s": "show", "p": "pass"}[letter])
    assert game.state["shows"].tolist() == [2, 1, 0]


def test_before_a_look_a_seat_sees_nothing_of_its_own():
    game = Game("happy_blind", seed=4, first=2)
    empty = [int(game.view(seat)["hand"]) for seat in range(3)]
    assert empty == [0, 0, 0]
    game.step("look")
    assert game.phase == "call" and to_text(int(game.view(2)["hand"])) == game.hands[2]
    assert int(game.view(0)["hand"]) == 0
    assert [int(hand) for hand in game.view(0)["hands"]] == [0, 0, 0]
    game.step("pass")
    assert (game.phase, game.seat) == ("blind", 0) and int(game.view()["hand"]) == 0
    game.step("blind")
    for seat in range(3):
        assert to_text(int(game.view(seat)["hand"])) == game.hands[seat]
        assert to_text(int(game.view(seat)["bottom"])) == game.bottom


@pytest.mark.parametrize("room", PRESETS)
def test_a_view_has_neither_key_nor_deck(room):
    seed = 0x1122334455667788
    for game in walk(room, [seed]):
        for seat in range(3):
            data = game.view(seat).tobytes()
            assert seed.to_bytes(8, "little") not in data
            assert seed.to_bytes(8, "big") not in data
            assert game.state["deck"].tobytes() not in data
    assert not {"seed", "deck", "draws", "choices", "may_double"} & set(VIEW.names)
