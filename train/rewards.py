"""What policies are rewarded for."""

import numpy as np

from ddz_env.rules import RuleSet


def by_points(objective: str, rooms: tuple[RuleSet, ...]) -> bool:
    """Whether the reward is one of points: `points`, or `auto` where somebody calls."""
    calls = any(room.auction != "none" for room in rooms)
    return calls if objective == "auto" else objective == "points"


def reward_of(points: np.ndarray, by_points: bool) -> np.ndarray:
    """The reward of deals that brought so many points, `float32[E]`.

    1, -1 or 0 by their sign, or that times log2(1 + |points|), finite with any number of bombs.
    """
    size = np.log2(1 + np.abs(points)) if by_points else np.ones_like(points)
    return (np.sign(points) * size).astype(np.float32)
