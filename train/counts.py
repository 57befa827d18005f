"""What happened in games of self-play, counted."""

from collections.abc import Iterable

import numpy as np

from ddz_env.catalogue import ACTIONS, CHOICES, PASS, Category
from ddz_env.state import Phase
from ddz_env.vector import VecEnv

LOOK = CHOICES["look"]
_PHASES = {
    "call": (Phase.CALL, Phase.CALL_POINTS, Phase.BLIND),
    "rob": (Phase.ROB,),
    "show": (
        Phase.SHOW_BEFORE_DEAL, Phase.SHOW_AT_6, Phase.SHOW_AT_12, Phase.SHOW_AFTER_BOTTOM,
    ),
    "double": (Phase.DOUBLE,),
    "raise": (Phase.RAISE,),
}  # fmt: skip


def asked(name: str) -> str:
    """The count of how often a question of `_PHASES` was asked."""
    return f"{name} asked"


def added(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """The sums of counts by name."""
    out: dict[str, int] = {}
    for part in counts:
        for name, value in part.items():
            out[name] = out.get(name, 0) + value
    return out


class Counts(dict[str, int]):
    """Decisions, games, and who said yes to what, in one room."""

    def __init__(self) -> None:
        names = ("decisions", "games", "landlord_wins", "bombs", *_PHASES, *map(asked, _PHASES))
        super().__init__(dict.fromkeys(names, 0))

    def choices(self, env: VecEnv, actions: np.ndarray, free: np.ndarray) -> None:
        """Count the choices that are about to be made.

        Args:
            env: the games.
            actions: an id for each.
            free: whether there was more than one.
        """
        self["decisions"] += len(actions)
        self["bombs"] += int((ACTIONS["category"][actions] >= Category.BOMB).sum())
        if env.rules.auction == "none":
            return
        phase = env.states["phase"]
        for name, phases in _PHASES.items():
            here = free & np.isin(phase, phases)
            self[asked(name)] += int(here.sum())
            self[name] += int((~np.isin(actions[here], (PASS, LOOK))).sum())

    def game(self, scores: np.ndarray, landlord: int) -> bool:
        """Count a game that has ended; whether it was no void deal."""
        self["games"] += 1
        if not scores.any():
            return False
        self["landlord_wins"] += int(scores[landlord] > 0)
        return True
