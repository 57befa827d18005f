"""A kept deal as it is shown: its cards, what stands on the table, its score, a model's values."""

import random

import numpy as np
import pytest
from kept_games import choose, played

from agents.value_agent import Ranked
from ddz_env import PRESETS, Game
from ddz_env.catalogue import TEXTS
from ddz_env.replay import decisions
from eval.replay_deal import is_wild, kept, score_parts
from eval.replay_values import LISTED, values

ROOMS = [*PRESETS.values(), PRESETS["laidou"].replace(name="jokers", wild="jokers")]
rooms = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)


@pytest.fixture(scope="module")
def games():
    """Some deals of each room, by its name: of greedy, of a random player, broken off."""
    found = {}
    for room in ROOMS:
        found[room.name] = [played(room, seed, calls=True) for seed in range(8)]
        for seed in range(4):
            game, rng = Game(room, seed=seed), random.Random(seed)
            for _ in range(25 + 1000 * (seed % 2)):
                if not game.over:
                    game.step(rng.choice(game.legal()))
            found[room.name].append(game)
    return found


def letters(cards, wild):
    """Cards as the letters of a hand."""
    return sorted("W" if len(wild) != 6 and is_wild(c, wild) else c[0] for c in cards)


@rooms
def test_cards_go_from_the_hands_to_the_table(room, games):
    """54 different cards; a play takes those that it names, from the hand of its seat."""
    for game in games[room.name]:
        deal = kept(game, ["", "", ""])
        cards = [card for hand in (*deal.hands, deal.bottom) for card in hand]
        assert len(cards) == len(set(cards)) == 54
        held = [set(hand) for hand in deal.hands]
        if game.landlord is not None:
            held[game.landlord] |= set(deal.bottom)
        assert [(step.seat, step.text) for step in deal.steps] == game.history
        for step in deal.steps:
            plain = step.text.replace("+", "").replace("*", "")
            if not step.cards:
                assert step.phase != "play" or step.text == "pass"
                continue
            assert "".join(c.partition("=")[2] or c[0] for c in step.cards) == plain
            taken = {c.partition("=")[0] for c in step.cards}
            stars = [c for c in step.cards if "=" in c]
            assert len(stars) == step.text.count("*")
            assert all(is_wild(c.partition("=")[0], deal.wild) for c in stars)
            assert len(taken) == len(step.cards) and taken <= held[step.seat]
            held[step.seat] -= taken
        for hand, text in zip(held, game.hands, strict=True):
            assert letters(hand, deal.wild) == sorted(text)


def test_red_sevens_are_red(games):
    deal = kept(games["laidou"][0], ["", "", ""])
    cards = [card for hand in (*deal.hands, deal.bottom) for card in hand]
    assert deal.wild == "7r"
    assert sorted(c for c in cards if is_wild(c, deal.wild)) == ["7d", "7h"]


@rooms
def test_what_each_seat_did_last(room, games):
    """In this trick; the seat whose play stands has a play there; a leader has nothing to beat."""
    for game in games[room.name]:
        deal = kept(game, ["", "", ""])
        for i, step in enumerate(deal.steps):
            for seat, last in enumerate(step.lasts):
                if last is not None:
                    assert last < i and deal.steps[last].seat == seat
                    assert all(later.seat != seat for later in deal.steps[last + 1 : i])
            if step.phase == "play" and step.to_beat is not None:
                assert deal.steps[step.lasts[step.to_beat]].cards
            if step.phase == "play" and step.to_beat is None:
                last = step.lasts[step.seat]
                assert step.text != "pass"
                assert last is None or deal.steps[last].phase != "play"


@rooms
def test_the_score_is_the_product_of_its_parts(room, games):
    seen = set()
    for game in games[room.name]:
        parts = score_parts(game)
        assert parts[0].name == "base" and parts[0].factor == game.base
        assert np.prod([float(part.factor) for part in parts[1:]]) == game.multiplier
        seen |= {part.name for part in parts}
        deal = kept(game, ["", "", ""])
        if deal.winner is None or room.cap:
            continue
        points = game.base * game.multiplier * deal.room_factor
        lord = game.landlord
        for seat in range(3):
            if seat != lord:
                stake = points * 2 ** (deal.doubled[seat] + deal.doubled[lord])
                assert abs(game.scores[seat]) == stake
    assert "bombs" in seen
    assert ("robs" in seen) == (room.rob and room.auction == "call")


def test_redeals_are_not_shown_but_played_again():
    game = Game("qq_classic", seed=3, first=1)
    for _ in range(3):
        game.step("pass")
    game.step("call_3")
    deal = kept(game, ["", "", ""])
    assert deal.redeals == 1 and [step.text for step in deal.steps] == ["call_3"]
    texts = [text for _, text in decisions(game)]
    assert texts == ["pass"] * 3 + ["call_3"]


@rooms
def test_decisions_are_played_again(room, games):
    """Before each of them the game is as it was; its parts are the ids that were chosen."""
    for game in games[room.name]:
        n = 0
        for now, text in decisions(game):
            copy = now.clone()
            for part in copy.parts(text):
                assert part in copy.legal_ids()
                copy.step(part)
            if now.redeals == game.redeals:
                assert (now.seat, text) == game.history[n]
                n += 1
                whole = now.clone()
                whole.step(text)
                assert copy.to_bytes() == whole.to_bytes()
        assert n == len(game.history)


# ------------------------------------------------------------------------------------ values


class Stub:
    """Values every action by its id, for each seat alike."""

    objective = "wp"

    def __init__(self, nets=3):
        self.nets = [None] * nets

    def chance(self, action):
        return (action * 37 % 101) / 101

    def ranked(self, views, legal):
        out = []
        for begin, end in zip(legal.offsets[:-1], legal.offsets[1:], strict=True):
            row = [Ranked(int(a), self.chance(int(a)), float(a)) for a in legal.ids[begin:end]]
            out.append(sorted(row, key=lambda r: -r.chance))
        return out

    def act(self, views, legal):
        return np.array([self.ranked(views, legal)[0][0].action])


def test_values_of_a_deal():
    agent = Stub()
    game = played("play_only", 5)
    found = values(game, agent)
    assert len(found) == len(game.history)
    asked = other = 0
    for value, (now, text) in zip(found, decisions(game), strict=True):
        ids = now.legal_ids()
        if len(ids) == 1:
            assert value is None
            continue
        asked += 1
        chances = sorted((agent.chance(int(i)) for i in ids), reverse=True)
        own = agent.chance(now.action_id(text))
        assert value.legal == len(ids)
        assert value.choices[value.made].text == text
        assert value.choices[value.made].chance == own
        assert [c.chance for c in value.choices[:LISTED]] == chances[:LISTED]
        assert len(value.choices) <= LISTED + 1
        assert value.rank == sum(c > own for c in chances)
        assert value.other == (own < chances[0])
        other += value.other
        pair = (own, chances[0])
        assert value.landlord == (pair if now.seat == 0 else tuple(1 - c for c in pair))
    assert asked > 10 and other > 0


def test_a_model_agrees_with_itself():
    agent = Stub()
    found = values(played("play_only", 6, agent), agent)
    assert any(found) and not any(value.other for value in found if value)


def test_choices_that_a_model_has_no_network_for_have_no_value():
    game = played("happy", 2, calls=True)
    phases = [now.phase for now, _ in decisions(game) if now.redeals == game.redeals]
    without, with_calls = values(game, Stub(3)), values(game, Stub(4))
    for phase, one, more in zip(phases, without, with_calls, strict=True):
        assert phase == "play" or one is None
        assert phase == "play" or more is None or more.other in (True, False)
    assert sum(v is not None for v in with_calls) > sum(v is not None for v in without) > 0
    first = next(v for v in with_calls if v)
    assert first.landlord is None  # nobody is landlord yet


def test_calls_are_ordered_by_points():
    """As the agent itself chooses before the play: a choice is otherwise if points say so."""
    agent = Stub(4)
    plain = agent.ranked
    agent.ranked = lambda views, legal: [
        sorted(row, key=lambda r: -r.points) if view["landlord"] < 0 else row
        for view, row in zip(views, plain(views, legal), strict=True)
    ]
    game = Game("qq_classic", seed=1, first=0)
    game.step("call_1")
    (value,) = values(game, agent)
    best = value.choices[0]
    assert TEXTS.index(best.text) == 3 and value.other
    game = Game("qq_classic", seed=1, first=0)
    game.step("call_3")
    assert not values(game, agent)[0].other


def test_stubs_choose_like_agents():
    game = Game("play_only", seed=1)
    assert choose(Stub(), game) in game.legal_ids()
