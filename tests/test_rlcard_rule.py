"""RLCard's rule agent on this core: known decisions, and the package itself where installed."""

import importlib.util
import random
from types import SimpleNamespace

import numpy as np
import pytest
from tables import alone, position, positions, row_of

import agents
from agents.rlcard_rule import RLCardRuleAgent
from ddz_env import Game
from ddz_env.catalogue import TEXTS
from ddz_env.vector import Legal

HAVE_RLCARD = importlib.util.find_spec("rlcard") is not None


def choice(**place):
    views, legal = position(**place)
    return TEXTS[RLCardRuleAgent().act(views, legal)[0]]


def choices(n=200, **place):
    """The texts chosen in many deals with the same position."""
    views, legal = position(**place)
    size = len(legal.ids)
    lists = Legal(np.arange(n + 1) * size, np.tile(legal.ids, n))
    views = np.repeat(views, n)
    views["deal"] = np.arange(n)
    return {TEXTS[a] for a in RLCardRuleAgent().act(views, lists)}


@pytest.mark.parametrize(
    ("hand", "play"),
    [
        ("3", "3"),
        ("3XD", "3"),
        ("XD", "XD"),
        ("33KK", "33"),
        ("33334", "3333"),
        ("3334", "333"),  # trios go alone
        ("3334445", "333444"),
        ("AAA222", "AAA"),  # no chain holds a 2
        ("QQQKKKAAA222", "QQQKKKAAA"),
        ("345678K", "345678"),
        ("33445566", "33"),  # pair chains are never found
        ("3344556677", "34567"),
        ("3344567", "34567"),
        ("3456777", "3"),  # the trio was taken out before
        ("345677778", "3"),  # and so was the bomb
        ("9TJQKA2", "9TJQKA"),
    ],
)
def test_leads(hand, play):
    assert choice(hand=hand) == play


@pytest.mark.parametrize(
    ("place", "play"),
    [
        ({"hand": "4679", "last": "5"}, "6"),
        ({"hand": "44667", "last": "5"}, "6"),  # pairs are split
        ({"hand": "4456789", "last": "34567"}, "45678"),
        ({"hand": "5555888899", "last": "3333"}, "5555"),
        ({"hand": "4679", "last": "5", "seat": 2, "by": 1}, "6"),  # the partner's play too
        ({"hand": "4XD", "last": "2"}, "X"),
    ],
)
def test_follows_with_the_lowest_of_the_type(place, play):
    assert choice(**place) == play


def test_follows_with_the_lowest_main_part():
    """Which kicker goes along is arbitrary in RLCard."""
    assert choice(hand="555666A2", last="333+4").startswith("555+")


def test_who_played_last_is_read_from_the_seat_before():
    """Without a play of the type: pass after the partner, anything legal otherwise."""
    anything = {"pass", "3333"}
    hand, last = "33334", "A"
    # The landlord: always anything.
    assert choices(hand=hand, last=last, seat=0, by=2) == anything
    # The farmer after the landlord: on the landlord's play, and, as RLCard reads its trace, also on
    # the partner's play that the landlord has passed on.
    assert choices(hand=hand, last=last, seat=1, by=0) == anything
    assert choices(hand=hand, last=last, seat=1, by=2, passes=1) == anything
    # The farmer before the landlord: never, also where the partner has passed on the landlord's.
    assert choices(hand=hand, last=last, seat=2, by=1) == {"pass"}
    assert choices(hand=hand, last=last, seat=2, by=0, passes=1) == {"pass"}


@pytest.mark.parametrize("rules", ["play_only", "qq_classic"])
def test_a_row_does_not_see_its_neighbours(rules):
    views, legal = positions(rules, num_envs=150)
    chosen = RLCardRuleAgent(1).act(views, legal)
    assert np.array_equal(chosen, alone(RLCardRuleAgent(1), views, legal))
    assert all(chosen[i] in row_of(legal, i) for i in range(len(views)))


def test_calls_as_greedy():
    views, legal = positions("qq_classic", num_envs=100, steps=0)
    greedy = agents.load("greedy").act(views, legal)
    assert np.array_equal(RLCardRuleAgent().act(views, legal), greedy)
    assert len(set(greedy)) > 1


def test_takes_no_argument():
    with pytest.raises(agents.AgentError, match=r"rlcard_rule.*'x'"):
        agents.load("rlcard_rule:x")


# ------------------------------------------------------------------------- the package itself


def theirs(cards):
    """A play's cards as RLCard writes them: ascending, jokers as B and R."""
    order = sorted(cards.replace("+", ""), key="3456789TJQKA2XD".index)
    return "".join(order).replace("X", "B").replace("D", "R")


def their_state(game, actions):
    """RLCard's state of the seat on turn, the landlord being seat 0 in both."""
    trace = [(seat, text if text == "pass" else theirs(text)) for seat, text in game.history]
    return {
        "raw_obs": {
            "trace": trace,
            "current_hand": theirs(game.hands[game.seat]),
            "actions": actions,
            "landlord": 0,
            "self": game.seat,
        }
    }


def their_actions(game):
    """RLCard's own list of what is legal for the seat on turn."""
    from rlcard.games.doudizhu.judger import DoudizhuJudger
    from rlcard.games.doudizhu.utils import get_gt_cards

    hand = theirs(game.hands[game.seat])
    plays = [text for _, text in game.history[-2:] if text != "pass"]
    if not plays:
        return list(DoudizhuJudger.playable_cards_from_hand(hand))
    cards = [SimpleNamespace(rank=c if c not in "BR" else "", suit=c + "J") for c in hand]
    player = SimpleNamespace(current_hand=cards)
    return get_gt_cards(player, SimpleNamespace(played_cards=theirs(plays[-1])))


@pytest.mark.skipif(not HAVE_RLCARD, reason="the package rlcard is not installed")
@pytest.mark.parametrize("decisions", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_against_the_package(monkeypatch, decisions):
    """Decisions that are a choice, half of the moves on the way being random.

    Leads, plays of the same type and passes are equal to the card, kickers included. The one class
    of difference: where RLCard draws from all legal plays with numpy's global generator, this agent
    draws from the same plays with its own.
    """
    from rlcard.models import doudizhu_rule_models

    drawn = object()
    monkeypatch.setattr(np.random, "choice", lambda actions: drawn)
    rule = doudizhu_rule_models.DouDizhuRuleAgentV1()
    rng, agent = random.Random(3), RLCardRuleAgent()
    seen = {"lead": 0, "bare": 0, "kickers": 0, "pass": 0, "random": 0}
    seed = 0
    while sum(seen.values()) < decisions:
        game = Game("play_only", seed=seed)
        seed += 1
        while not game.over:
            ids = game.legal_ids()
            views = np.array([game.view()])
            ours = TEXTS[agent.act(views, Legal(np.array([0, len(ids)]), ids))[0]]
            if len(ids) > 1:
                listed = their_actions(game)
                legal = [text if text == "pass" else theirs(text) for text in game.legal()]
                assert sorted(listed) == sorted(legal)
                wanted = rule.step(their_state(game, listed))
                if wanted is not drawn:
                    assert wanted == (ours if ours == "pass" else theirs(ours)), game
                seen[kind_of(wanted is drawn, ours, leads="pass" not in legal)] += 1
            game.step(rng.choice(game.legal()) if rng.random() < 0.5 else ours)
    print(seen)
    assert seen["lead"] >= 200 and seen["bare"] >= 200 and seen["kickers"] >= 5
    assert seen["pass"] >= 1 and 1 <= seen["random"] <= decisions // 20


def kind_of(drawn, ours, leads):
    """The kind of a decision."""
    if drawn or ours == "pass":
        return "random" if drawn else "pass"
    return "lead" if leads else "kickers" if "+" in ours else "bare"
