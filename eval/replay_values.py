"""What a model says of the decisions of a kept deal: chances of winning, what it prefers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import agents
from agents import AgentError
from agents.role_agent import ROLES, net_of
from agents.value_agent import Ranked, ValueAgent
from ddz_env._jit import records
from ddz_env.catalogue import TEXTS, action_id
from ddz_env.game import Game
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet
from ddz_env.view import VIEW
from eval.replay_deal import moments

NONE = "none"
"""The agent of a page without values."""
SHIPPED = "dmc"
"""The agent where none is named: the weights that ship for the room, if there are any."""
LISTED = 6
"""Choices of a decision that are shown, the best first; with them comes the one that was made."""


@dataclass(frozen=True)
class Choice:
    """A choice as the model sees it: its text, its chance of winning and points for the seat."""

    text: str
    chance: float
    points: float


@dataclass(frozen=True)
class Value:
    """What the model says of a decision.

    Attributes:
        choices: the best ones, the best first, and at the end the one that was made if it is not
            among them.
        made: the place of the one that was made.
        rank: how many choices are better, as the model orders them.
        legal: how many there were.
        other: whether it would have chosen otherwise: what it prefers is worth more.
        landlord: the landlord's chance by the value of what was chosen, and by that of the best
            choice; None while there is no landlord.
    """

    choices: list[Choice]
    made: int
    rank: int
    legal: int
    other: bool
    landlord: tuple[float, float] | None


def load_valuer(spec: str | None, rules: RuleSet) -> ValueAgent | None:
    """The agent whose values are shown; None for none.

    Args:
        spec: of the agent; `none`; or None for what ships for the room, if there is anything.
        rules: the room.

    Raises:
        AgentError: no such agent, of another room, or one that gives no chances of winning.
    """
    if spec == NONE:
        return None
    agent: Any
    if spec is None:
        from agents.dmc import NotShipped  # imports torch

        try:
            agent = agents.load(SHIPPED, rules)
        except NotShipped:
            return None
    else:
        agent = agents.load(spec, rules)
    if not isinstance(agent, ValueAgent):
        raise AgentError(
            f"agent {spec}: gives no chances of winning; expected dmc, dmc:PATH, onnx:FILE or none"
        )
    return agent


def values(game: Game, agent: ValueAgent) -> list[Value | None]:
    """What a model says of each decision of a deal since the last redeal.

    None for a decision without an alternative, and for one that the model has no network for. Each
    decision is judged by what the seat that makes it may know.
    """
    asked: list[_Asked] = []
    n = 0
    for i, (now, text) in enumerate(moments(game)):
        n = i + 1
        ids, view = now.legal_ids(), now.view()
        net = int(net_of(view["phase"], view["seat"], view["landlord"]))
        if len(ids) > 1 and net < len(agent.nets):
            action = action_id(text.replace("*", ""))
            lord = None if now.landlord is None else now.seat == now.landlord
            by_points = agent.objective == "adp" or net == len(ROLES)
            asked.append(_Asked(i, view, ids, action, lord, by_points))
    out: list[Value | None] = [None] * n
    if asked:
        rows = records(VIEW, len(asked))
        for row, one in zip(range(len(asked)), asked, strict=True):
            rows[row] = one.view
        offsets = np.concatenate([[0], np.cumsum([len(one.ids) for one in asked])])
        legal = Legal(offsets, np.concatenate([one.ids for one in asked]))
        for one, ranked in zip(asked, agent.ranked(rows, legal), strict=True):
            out[one.place] = _value(ranked, one)
    return out


class _Asked(NamedTuple):
    """A decision that a model is asked about."""

    place: int
    view: Any
    ids: np.ndarray
    action: int  # that was chosen
    lord: bool | None  # whether the landlord chose, None while there is none
    by_points: bool  # whether the model's order goes by points


def _value(ranked: list[Ranked], one: _Asked) -> Value:
    """What is kept of a model's ranking of all choices."""
    place = next(i for i, choice in enumerate(ranked) if choice.action == one.action)
    best, own = ranked[0], ranked[place]
    more = best.points > own.points if one.by_points else best.chance > own.chance
    shown = ranked[:LISTED] + ([own] if place >= LISTED else [])
    sides = None
    if one.lord is not None:
        sides = _of_landlord(own, one.lord), _of_landlord(best, one.lord)
    return Value(
        choices=[Choice(TEXTS[c.action], c.chance, c.points) for c in shown],
        made=min(place, LISTED),
        rank=place,
        legal=len(ranked),
        # A win that is certain comes first, whatever it brings.
        other=own.chance < 1.0 and (best.chance == 1.0 or more),
        landlord=sides,
    )


def _of_landlord(choice: Ranked, lord: bool) -> float:
    """The landlord's chance by a value of his own or of a farmer's choice."""
    return choice.chance if lord else 1 - choice.chance


def as_json(value: Value | None) -> dict[str, Any] | None:
    """A value for the page, chances and points rounded."""
    if value is None:
        return None
    return {
        "c": [[c.text, round(c.chance, 4), round(c.points, 2)] for c in value.choices],
        "made": value.made,
        "rank": value.rank,
        "legal": value.legal,
        "other": value.other,
        "lord": None if value.landlord is None else [round(x, 4) for x in value.landlord],
    }
