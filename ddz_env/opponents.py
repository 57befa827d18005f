"""Who plays the other seats where an environment asks one seat only."""

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple, cast

import numpy as np

from ddz_env.bots import BOTS, Bot, GreedyBot, RandomBot, TrusteeBot, make_bot
from ddz_env.errors import DdzError
from ddz_env.listed import Legal
from ddz_env.seat_kernels import GREEDY, RANDOM, TRUSTEE

Policy = Callable[[Any, np.ndarray], int]
"""A function of what a seat knows (`VIEW`) and of its legal ids (`int32[n]`): one of these."""
Opponent = str | Bot | Policy
Opponents = Opponent | Sequence[Opponent] | Mapping[str, Opponent]

_KERNELS = {RandomBot: RANDOM, GreedyBot: GREEDY, TrusteeBot: TRUSTEE}
_EXPECTED = (
    f"a bot's name ({', '.join(BOTS)}), an object with act(views, legal), a function of a view and "
    "its legal ids, or two of them: of the next and of the previous seat"
)


class Player(NamedTuple):
    """One opponent: how errors name it, and what chooses."""

    name: str
    bot: Bot


class Asker:
    """A `Bot` that asks a function row by row.

    Args:
        policy: the function.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """The function's choice in each row, `int64[B]`; -1 for what is not even a number."""
        out = np.zeros(len(views), np.int64)
        for i in range(len(views)):
            ids = legal.ids[legal.offsets[i] : legal.offsets[i + 1]].copy()
            choice = self.policy(views[i], ids)
            try:
                # Beyond every id, but within 64 bits.
                out[i] = min(max(index(choice), -1), 1 << 20)
            except TypeError:
                raise DdzError(f"chose {choice!r}, expected one of the legal ids") from None
        return out


def players_of(opponents: Any) -> tuple[Player, Player]:
    """The players of the next and of the previous seat, seen from the learner's.

    Args:
        opponents: one for both, or two: a sequence of two, or a mapping of `next` and `prev`.

    Raises:
        DdzError: none of these, named.
    """
    if isinstance(opponents, Mapping):
        if set(opponents) != {"next", "prev"}:
            raise DdzError(f"opponents: expected the keys next and prev, got {list(opponents)}")
        pair = [opponents["next"], opponents["prev"]]
    elif isinstance(opponents, (list, tuple)):
        if len(opponents) != 2:
            raise DdzError(f"opponents: expected two, next and prev, got {len(opponents)}")
        pair = list(opponents)
    else:
        player = Player("opponents", _bot("opponents", opponents))
        return player, player
    names = "opponents: next", "opponents: prev"
    one, two = (Player(name, _bot(name, who)) for name, who in zip(names, pair, strict=True))
    return one, two


def _bot(name: str, opponent: Any) -> Bot:
    """What chooses for one opponent."""
    if isinstance(opponent, str):
        if opponent not in BOTS:
            raise DdzError(f"{name}: expected {_EXPECTED}, got {opponent!r}")
        return make_bot(opponent)
    if isinstance(opponent, type):
        raise DdzError(f"{name}: expected {_EXPECTED}, got the class {opponent.__name__}")
    if callable(getattr(opponent, "act", None)):
        return opponent
    if callable(opponent):
        return Asker(cast(Policy, opponent))
    raise DdzError(f"{name}: expected {_EXPECTED}, got {opponent!r}")


def in_kernels(players: tuple[Player, Player]) -> tuple[np.ndarray, np.ndarray] | None:
    """The players as kernels number them, and their seeds; None unless kernels know both."""
    bots = [player.bot for player in players]
    if not all(type(bot) in _KERNELS for bot in bots):
        return None
    seeds = [bot.seed if isinstance(bot, RandomBot) else 0 for bot in bots]
    kinds = [_KERNELS[type(bot)] for bot in bots]
    return np.array(kinds, np.int64), np.array(seeds, np.uint64)


def choices(player: Player, views: np.ndarray, legal: Legal) -> np.ndarray:
    """What a player chooses in each row, `int64[B]`; whether it is legal is for the caller to see.

    Raises:
        DdzError: it gave something else than one id a row.
    """
    try:
        given = player.bot.act(views, legal)
    except DdzError as error:
        raise DdzError(f"{player.name}: {error}") from error
    ids = np.asarray(given)
    if ids.shape != (len(views),) or ids.dtype.kind not in "iu":
        raise DdzError(
            f"{player.name}: act gave {ids.dtype} {list(ids.shape)}, expected {len(views)} ids"
        )
    return np.ascontiguousarray(ids, np.int64)
