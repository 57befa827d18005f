"""A kept deal as it is shown: every decision with the cards that it took, the score in its parts.

All hands are open. Cards get suits, which the game has none of, so that each is one of a kind and
can be followed from the hand to the table: a card is its rank's letter and `s`, `h`, `c` or `d`;
jokers are `X` and `D` alone.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ddz_env.cards import HAND_SIZE, RANKS, WILD, unpack
from ddz_env.game import Game
from ddz_env.replay import decisions
from ddz_env.scene import Scene, look
from ddz_env.scoring import QUARTERS, is_spring, show_multiplier, times

SUITS = "shcd"
"""Spades, hearts, clubs, diamonds."""
RED = "hd"


@dataclass(frozen=True)
class Step:
    """A decision.

    Attributes:
        seat: who decides.
        phase: what is decided, by the names of `state.Phase` in lower case.
        text: what is decided; wild cards of a play with a star.
        cards: that it takes, in the order of the text; those that stand for another rank than
            their own as `8h=5`.
        lasts: what each seat did last and still counts, as the number of that decision; or None.
        to_beat: the seat whose play is to be beaten, None for a lead.
        multiplier: as it stands before.
        wild: whether it is known then what is wild.
        landlord: whether there is a landlord then, who has the bottom cards.
    """

    seat: int
    phase: str
    text: str
    cards: list[str]
    lasts: list[int | None]
    to_beat: int | None
    multiplier: int
    wild: bool
    landlord: bool


@dataclass(frozen=True)
class Part:
    """A factor of a score.

    Attributes:
        name: a term of `replay_words`.
        count: how often it came, 0 where it is no count.
        factor: what it multiplies with.
    """

    name: str
    count: int
    factor: float


@dataclass(frozen=True)
class Deal:
    """A kept deal.

    Attributes:
        room: its name.
        seed: key of the deal.
        number: public number of the deal.
        agents: what played at each seat, empty where the file doesn't say.
        landlord: his seat, None where there is none.
        wild: letter of the rank that is wild, `7r` for the red sevens, `jokers`, or empty.
        redeals: how often the cards had been thrown in.
        hands: the cards of each seat as dealt, the landlord's without the bottom cards.
        bottom: the bottom cards.
        steps: all decisions since the last redeal.
        scores: of each seat; None where the deal was broken off.
        winner: the seat that went out, None for nobody.
        parts: what the stake is made of, from the base on.
        doubled: whether each seat has doubled.
        room_factor: what the room multiplies all points with in the end.
        end: `Step.lasts` once all is decided.
    """

    room: str
    seed: int
    number: int
    agents: list[str]
    landlord: int | None
    wild: str
    redeals: int
    hands: list[list[str]]
    bottom: list[str]
    steps: list[Step]
    scores: list[float] | None
    winner: int | None
    parts: list[Part]
    doubled: list[bool]
    room_factor: float
    end: list[int | None]

    def roles(self) -> list[str]:
        """The role of each seat; empty without a landlord."""
        names = ("landlord", "landlord_down", "landlord_up")
        lord = self.landlord
        return ["" if lord is None else names[(seat - lord) % 3] for seat in range(3)]


def moments(game: Game) -> Iterator[tuple[Game, str]]:
    """`replay.decisions` since the last redeal."""
    return ((now, text) for now, text in decisions(game) if now.redeals == game.redeals)


def kept(game: Game, agents: list[str]) -> Deal:
    """What is shown of a deal, finished or not."""
    wild = _wild(look(game, None))
    deck = _suited(game)
    hands = [deck[HAND_SIZE * seat : HAND_SIZE * (seat + 1)] for seat in range(3)]
    bottom = deck[3 * HAND_SIZE :]
    landlord = game.landlord
    held = [[*hand, *(bottom if seat == landlord else ())] for seat, hand in enumerate(hands)]
    steps: list[Step] = []
    taken = game.state["history_cards"]
    latest: list[int | None] = [None] * 3
    for i, (now, text) in enumerate(moments(game)):
        scene = look(now, None)
        step = Step(
            seat=now.seat,
            phase=now.phase,
            text=text,
            cards=_take(held[now.seat], int(taken[i]), text, wild),
            lasts=_lasts(scene, latest),
            to_beat=scene.to_beat if now.phase == "play" else None,
            multiplier=scene.multiplier,
            wild=bool(scene.wild),
            landlord=scene.landlord is not None,
        )
        latest[now.seat] = i
        steps.append(step)
    return Deal(
        room=game.rules.name,
        seed=int(game.state["seed"]),
        number=int(game.state["deal"]),
        agents=agents,
        landlord=landlord,
        wild=wild,
        redeals=game.redeals,
        hands=[sort_cards(hand, wild) for hand in hands],
        bottom=sort_cards(bottom, wild),
        steps=steps,
        scores=game.scores if game.over else None,
        winner=game.winner,
        parts=score_parts(game),
        doubled=[bool(d) for d in game.state["doubles"]],
        room_factor=game.rules.params().score_quarters / QUARTERS,
        end=_lasts(look(game, None), latest),
    )


def score_parts(game: Game) -> list[Part]:
    """The factors of the points of a deal: the base, then what the multiplier is made of.

    Their product is base times multiplier; doubles, the room's factor and its cap come after it.
    """
    state, params = game.state, game.rules.params()
    robs, raises = int((state["robs"] == 1).sum()), int(state["raises"])
    spring = int(game.over and bool(is_spring(state)))
    shows = int((state["shows"] > 0).sum())
    parts = [
        Part("base", 0, game.base),
        Part("the room's", 0, params.start_multiplier),
        Part("shows", shows, int(show_multiplier(state, params))),
        Part("robs", robs, int(times(1, params.rob_multiplier, robs))),
        Part("blind", int(state["blind"]), int(times(1, params.blind_multiplier, state["blind"]))),
        Part("raises", raises, int(times(1, params.raise_multiplier, raises))),
        Part("bombs", int(state["bombs"]), int(state["bomb_factor"])),
        Part("spring", spring, int(times(1, params.spring, spring))),
    ]
    return [part for part in parts if part.name == "base" or part.factor != 1]


# -------------------------------------------------------------------------------------- cards


def sort_cards(cards: list[str], wild: str) -> list[str]:
    """Cards of a hand: wild ones first, then from high to low."""

    def key(card: str) -> tuple[bool, int, int]:
        return not is_wild(card, wild), -RANKS.index(card[0]), SUITS.find(card[1:])

    return sorted(cards, key=key)


def is_wild(card: str, wild: str) -> bool:
    """Whether a card is wild, by what is wild in the deal (`Deal.wild`)."""
    if wild == "jokers":
        return card in ("X", "D")
    return card[0] == wild[:1] and (wild != "7r" or card[1] in RED)


def _wild(scene: Scene) -> str:
    """What is wild, as `Deal.wild` says it."""
    return scene.wild + "r" if scene.red_wild and scene.wild else scene.wild


def _suited(game: Game) -> list[str]:
    """The 54 cards in dealing order, each with a suit, drawn from the deal's key."""
    rng = random.Random(int(game.state["seed"]))
    left = {rank: rng.sample(SUITS, 4) for rank in RANKS[:13]}
    if game.rules.wild == "red_sevens":
        left["7"], left["W"] = [s for s in SUITS if s not in RED], list(RED)
    cards = []
    for rank in np.array(game.state["deck"]):
        letter = RANKS[rank]
        suit = left[letter].pop() if letter in left else ""
        cards.append(("7" if rank == WILD else letter) + suit)
    return cards


def _take(hand: list[str], packed: int, text: str, wild: str) -> list[str]:
    """Take the cards of a play from a hand, in the order of its text.

    Args:
        hand: changed.
        packed: ranks that the play takes, wild cards among them.
        text: the play.
        wild: what is wild.
    """
    if not packed:
        return []
    letters = text.replace("+", "")
    natural = [x for i, x in enumerate(letters) if x != "*" and letters[i + 1 : i + 2] != "*"]
    counts = unpack(packed)
    # The wild cards in the order in which they are spent: of the jokers the small one first.
    spent = ["W"] * counts[WILD]
    for joker in "XD" if wild == "jokers" else "":
        spent += [joker] * (counts[RANKS.index(joker)] - natural.count(joker))
    out = []
    for i, letter in enumerate(letters):
        if letter == "*":
            continue
        if letters[i + 1 : i + 2] != "*":
            card = next(c for c in hand if c[0] == letter and (c in "XD" or not is_wild(c, wild)))
            out.append(card)
        else:
            own = spent.pop(0)
            card = next(c for c in hand if is_wild(c, wild) and own in ("W", c[0]))
            out.append(f"{card}={letter}")
        hand.remove(card)
    return out


def _lasts(scene: Scene, latest: list[int | None]) -> list[int | None]:
    """The decisions that a scene shows as what each seat did last."""
    return [n if scene.players[seat].last else None for seat, n in enumerate(latest)]


def as_json(deal: Deal) -> dict[str, Any]:
    """A deal for the page: short names, since they come for every decision."""
    steps, deck = [], [card for hand in (*deal.hands, deal.bottom) for card in hand]
    for step in deal.steps:
        steps.append(
            {
                "s": step.seat, "p": step.phase, "t": step.text, "c": step.cards,
                "l": step.lasts, "b": step.to_beat, "m": step.multiplier, "w": step.wild,
                "d": step.landlord,
            }
        )  # fmt: skip
    names = (
        "room", "seed", "number", "agents", "landlord", "wild", "redeals", "hands", "bottom",
        "scores", "winner", "doubled", "room_factor", "end",
    )  # fmt: skip
    return {
        **{name: getattr(deal, name) for name in names},
        "seed": str(deal.seed),  # above what a number holds in JavaScript
        "roles": deal.roles(),
        "wilds": [card for card in deck if is_wild(card, deal.wild)],
        "steps": steps,
        "parts": [[part.name, part.count, part.factor] for part in deal.parts],
    }
