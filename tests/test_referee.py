"""The kernels against the slow referee: plays of single positions, and whole deals."""

import random

import pytest
from deals import choose, some_play, two_hands
from reference_game import RefereeGame
from reference_rules import ROOMS, legal_plays, parse

import ddz_env
from ddz_env import PRESETS, Game, IllegalActionError, action_id, action_text, n_actions

CUSTOM = {
    "jj": {"trio_with_pair": False, "four_with_two_pairs": False},
    "openspiel": {
        "kicker_adjacent_trio": True,
        "four_with_two_solos": False,
        "four_with_two_pairs": False,
    },
    "douzero": {
        "kicker_adjacent_trio": True,
        "kicker_four_solos": True,
        "kicker_both_jokers": True,
    },
    "four_solos": {"kicker_four_solos": True},
    "both_jokers": {"kicker_both_jokers": True, "airplane_with_pairs": False},
}


def check_positions(seed, n, changes):
    """Compare n positions, half of them leads; the shapes of plays that a like play answered."""
    rng = random.Random(seed)
    room = {**ROOMS["play_only"], **changes}
    rules = PRESETS["play_only"].replace(**changes)
    answered = set()
    for i in range(n):
        hand, other = two_hands(rng)
        last = some_play(rng, other, room) if i % 2 else None
        ours = ddz_env.legal_plays(hand, last, rules)
        assert sorted(ours) == legal_plays(hand, last, room), (hand, last)
        ids = [action_id(play) for play in ours]
        assert ids == sorted(set(ids)), (hand, last)
        shape = last and parse(last)[:2]
        if any(play != "pass" and parse(play)[:2] == shape for play in ours):
            answered.add(shape)
    return answered


def test_positions():
    assert len(check_positions(1, 5_000, {})) > 25


@pytest.mark.parametrize("name", CUSTOM)
def test_positions_of_custom_rooms(name):
    check_positions(2, 500, CUSTOM[name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_positions(seed):
    check_positions(100 + seed, 10_000, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", CUSTOM)
def test_many_positions_of_custom_rooms(name):
    check_positions(3, 10_000, CUSTOM[name])


def check_every_id(game):
    """Stepping a copy takes exactly the listed ids; a refusal leaves the record as it was."""
    legal = set(game.legal_ids().tolist())
    before = game.to_bytes()
    refused = 0
    for action in [*range(26), *range(64, n_actions(game.rules))]:
        if action in legal:
            copy = game.clone()
            copy.step(action)
            assert copy.history[-1:] == [(game.seat, action_text(action))] or copy.redeals
        else:
            with pytest.raises(IllegalActionError):
                game.step(action)
            refused += 1
    assert game.to_bytes() == before
    assert refused == 26 + n_actions(game.rules) - 64 - len(legal)


@pytest.mark.parametrize(("name", "plies"), [("qq_classic", 0), ("play_only", 0), ("play_only", 1)])
def test_every_id_is_either_listed_or_refused(name, plies):
    game = Game(name, seed=11)
    for _ in range(plies):
        game.step(game.legal()[-1])
    check_every_id(game)


def test_every_play_of_a_hand_is_either_listed_or_refused():
    """Stepping and listing are two kernels: they agree on what a hand holds but can't play now."""
    refused = 0
    for seed in range(40):
        rng = random.Random(seed)
        game = Game("play_only", seed=seed)
        while not game.over:
            legal = game.legal()
            for play in {*ddz_env.legal_plays(game.hands[game.seat]), "pass"} - set(legal):
                with pytest.raises(IllegalActionError):
                    game.step(play)
                refused += 1
            for play in rng.sample(legal, min(3, len(legal))):
                game.clone().step(play)
            game.step(rng.choice(legal))
    assert refused > 10_000


def test_every_id_of_a_wide_room_is_either_listed_or_refused():
    game = Game(PRESETS["play_only"].replace(**CUSTOM["douzero"]), deal=WIDE_DEAL)
    assert len(game.legal()) > 300
    check_every_id(game)
    game.step("333444555666+7777")
    assert "888999TTTJJJ+3456" in game.legal()
    check_every_id(game)


WIDE_DEAL = {
    "hands": ["33344455566677778", "3456888999TTTJJJQ", "QQQKKKKAAAA2222XD"],
    "bottom": "9TJ",
}


def test_explain_agrees_with_the_list():
    rng = random.Random(4)
    for i in range(3):
        hand, other = two_hands(rng)
        last = some_play(rng, other, ROOMS["play_only"]) if i else None
        legal = set(ddz_env.legal_plays(hand, last))
        for action in range(64, n_actions("play_only")):
            play = action_text(action)
            verdict = ddz_env.explain(hand, last, play).partition(":")[0]
            assert verdict == ("legal" if play in legal else "illegal"), (hand, last, play)


def play_whole_deal(name, seed, changes):
    """One deal by both; the number of decisions, bombs and redeals."""
    rng = random.Random(seed)
    room = {**ROOMS[name], **changes}
    game = Game(PRESETS[name].replace(**changes), seed=seed, first=seed % 3)
    hands = game.hands
    if game.landlord is not None:  # the bottom cards have been taken
        hands = [take(hands[0], game.bottom), *hands[1:]]
    referee = RefereeGame(room, hands, game.bottom, seed % 3)
    passes = rng.choice((0.2, 0.9))
    decisions = 0
    while not game.over:
        assert (game.phase, game.seat, game.landlord) == (
            referee.phase,
            referee.turn,
            referee.landlord,
        )
        assert (game.base, game.multiplier, game.hands) == (
            referee.base,
            referee.multiplier,
            referee.hands,
        )
        legal = game.legal()
        assert sorted(legal) == referee.legal()
        text = choose(rng, legal)
        if game.phase == "call_points" and rng.random() < passes:
            text = "pass"
        game.step(text)
        referee.step(text)
        decisions += 1
        if referee.redeal_wanted:
            referee.redeal(game.hands, game.bottom, seed % 3)
        assert (game.redeals, game.scores) == (referee.redeals, referee.scores)
    assert (referee.phase, referee.legal(), game.legal()) == ("over", [], [])
    assert (game.landlord, game.base, game.multiplier, game.hands) == (
        referee.landlord,
        referee.base,
        referee.multiplier,
        referee.hands,
    )
    assert sum(game.scores) == 0
    assert (game.winner is None) == (game.landlord is None) == (game.scores == [0, 0, 0])
    return decisions, int(game.state["bombs"]), game.redeals, game.landlord is None


def take(hand, cards):
    for card in cards:
        hand = hand.replace(card, "", 1)
    return hand


def check_deals(seeds, name, changes):
    """What so many deals had in them: most bombs, redeals in all, void deals."""
    results = [play_whole_deal(name, seed, changes) for seed in seeds]
    _, bombs, redeals, void = zip(*results, strict=True)
    return max(bombs), sum(redeals), sum(void)


def test_deals_of_play_only():
    assert check_deals(range(150), "play_only", {})[0] >= 2


def test_deals_of_qq_classic():
    bombs, redeals, _ = check_deals(range(150), "qq_classic", {})
    assert bombs >= 2 and redeals > 50


def test_deals_of_custom_rooms():
    void = check_deals(range(40), "qq_classic", {"max_redeals": 1})[2]
    assert void > 0  # the cap on redeals ends a deal without a score
    assert check_deals(range(20), "qq_classic", {"max_redeals": 0})[1] == 0
    assert check_deals(range(20), "qq_classic", {"all_pass": "first_bidder"})[1] == 0
    check_deals(range(20), "play_only", {"spring": True, "bomb_multiplier": 3})
    check_deals(range(10), "qq_classic", {**CUSTOM["douzero"], "spring": False})


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_many_deals(name):
    check_deals(range(1_000, 6_000), name, {})
