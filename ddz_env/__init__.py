"""Dou Dizhu (斗地主) for reinforcement learning: rules core, environments, bots.

One deal to read: `Game`. Environments: `env` (PettingZoo AEC), `parallel_env`, `vec_env` (batched).
Questions about a position: `legal_plays`, `explain`. Rooms: `PRESETS`, `RuleSet`.
"""

from ddz_env.aec import env, raw_env
from ddz_env.catalogue import action_id, action_text, catalogue_counts, n_actions
from ddz_env.errors import (
    CardError,
    DdzError,
    FormatError,
    IllegalActionError,
    PlayError,
    RuleError,
)
from ddz_env.explain import explain, legal_plays
from ddz_env.game import Game
from ddz_env.parallel import parallel_env
from ddz_env.rules import PRESETS, RuleSet
from ddz_env.vector import VecEnv, vec_env

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "CardError",
    "DdzError",
    "FormatError",
    "Game",
    "IllegalActionError",
    "PlayError",
    "RuleError",
    "RuleSet",
    "VecEnv",
    "action_id",
    "action_text",
    "catalogue_counts",
    "env",
    "explain",
    "legal_plays",
    "n_actions",
    "parallel_env",
    "raw_env",
    "vec_env",
]
