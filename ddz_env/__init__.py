"""Dou Dizhu (斗地主) for reinforcement learning: rules core, environments, bots.

One deal to read: `Game`. Environments: `env` (PettingZoo AEC), `parallel_env`, `vec_env` (batched);
of one seat, `DouDizhuEnv` and `SeatVectorEnv`: `gymnasium.make("ddz_env/DouDizhu-v0")`, `make_vec`.
Questions about a position: `legal_plays`, `explain`. Rooms: `PRESETS`, `RuleSet`, `load_rules`.
Many deals for beans: `Table`, `Room`; what a deal scores and pays: `deal_scores`, `settle`,
`escape_penalty`, `title`. Kept deals: `read_replays`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ddz_env.aec import env, raw_env
from ddz_env.catalogue import action_id, action_text, catalogue_counts, n_actions
from ddz_env.decode import decode
from ddz_env.errors import (
    CardError,
    DdzError,
    FormatError,
    IllegalActionError,
    PlayError,
    RuleError,
)
from ddz_env.features import schema
from ddz_env.game import Game
from ddz_env.levels import title
from ddz_env.money import Room, escape_penalty, settle
from ddz_env.parallel import parallel_env
from ddz_env.position import explain, legal_plays
from ddz_env.registration import register
from ddz_env.replay import read_replays
from ddz_env.rooms import load_rules
from ddz_env.rules import PRESETS, RuleSet
from ddz_env.scoring import deal_scores

if TYPE_CHECKING:
    from ddz_env.seat_vector import SeatVectorEnv
    from ddz_env.single import DouDizhuEnv
    from ddz_env.table import Table
    from ddz_env.vector import VecEnv, vec_env


_LATER = {
    "DouDizhuEnv": "single",
    "SeatVectorEnv": "seat_vector",
    "Table": "table",
    "VecEnv": "vector",
    "vec_env": "vector",
}
"""Names whose modules bring kernels that other users need not compile."""


def __getattr__(name: str) -> Any:
    """What is imported when it is first asked for."""
    if name in _LATER:
        return getattr(import_module(f"ddz_env.{_LATER[name]}"), name)
    raise AttributeError(f"module 'ddz_env' has no attribute {name!r}")


def min_plays(hand: str, rules: "str | RuleSet" = "play_only", wild: str | None = None) -> int:
    """The least number of plays that empties a hand, exact: `least.min_plays`."""
    # Its kernels are compiled when first asked for.
    from ddz_env.least import min_plays as search

    return search(hand, rules, wild)


register()

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "CardError",
    "DdzError",
    "DouDizhuEnv",
    "FormatError",
    "Game",
    "IllegalActionError",
    "PlayError",
    "Room",
    "RuleError",
    "RuleSet",
    "SeatVectorEnv",
    "Table",
    "VecEnv",
    "action_id",
    "action_text",
    "catalogue_counts",
    "deal_scores",
    "decode",
    "env",
    "escape_penalty",
    "explain",
    "legal_plays",
    "load_rules",
    "min_plays",
    "n_actions",
    "parallel_env",
    "raw_env",
    "read_replays",
    "schema",
    "settle",
    "title",
    "vec_env",
]
