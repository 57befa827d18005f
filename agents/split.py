"""`split:CALLS+PLAY`: one agent makes the choices before the play, another one plays.

`split:greedy+dmc` calls, robs, shows and doubles as `greedy` does and plays as `dmc` does; against
`dmc` it shows what `dmc`'s own choices before the play are worth.
"""

import numpy as np

from agents.base import Agent, AgentError, load
from ddz_env.listed import Legal
from ddz_env.rules import RuleSet
from ddz_env.state import Phase

_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)


class Split:
    """Two agents by phase.

    Args:
        calls: makes the choices before the play, and what is asked of a hand on the way (doubles).
        play: makes those of the play and fills wild cards.
    """

    def __init__(self, calls: Agent, play: Agent) -> None:
        self._agents = calls, play

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One id a row, `int64[B]`."""
        playing = (views["phase"] == _PLAY) | (views["phase"] == _FILL)
        out = np.zeros(len(views), np.int64)
        for agent, mine in zip(self._agents, (~playing, playing), strict=True):
            rows = np.flatnonzero(mine)
            if len(rows):
                out[rows] = agent.act(views[rows], legal.take(rows))
        return out


class Unplaced:
    """A split before its room is known."""

    def __init__(self, specs: tuple[str, str]) -> None:
        self._specs = specs

    def in_room(self, rules: RuleSet) -> Split:
        """The agent for a room.

        Raises:
            AgentError: one of the two can't play there.
        """
        calls, play = (load(spec, rules) for spec in self._specs)
        return Split(calls, play)

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """Not before the room is known."""
        raise AgentError("agent split: needs the room: load('split:...', rules)")


def from_spec(argument: str | None) -> Unplaced:
    """The agent of `split:CALLS+PLAY`.

    Raises:
        AgentError: not two specs, or one of them is none.
    """
    calls, plus, play = (argument or "").partition("+")
    if not calls or not plus or not play:
        raise AgentError(f"agent split: expected split:CALLS+PLAY, got {argument!r}")
    for spec in (calls, play):
        load(spec)
    return Unplaced((calls, play))
