"""`python -m ddz_env`: play against the bots that come with the environment.

What the command shares with `eval/play.py` of the checkout, which adds agents, levels and values,
is here: `sit_down` and `play`.
"""

import argparse
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from ddz_env.bots import BOTS, make_bot
from ddz_env.checks import brief, whole
from ddz_env.errors import DdzError
from ddz_env.game import Game
from ddz_env.money import Room
from ddz_env.play.questions import Adviser, Chooses, adviser_of
from ddz_env.play.session import Session
from ddz_env.play.terminal import run
from ddz_env.replay import to_line, write_replays
from ddz_env.rooms import load_rules
from ddz_env.rules import RuleSet
from ddz_env.seeds import check_seed
from ddz_env.table import Table
from ddz_env.words import LANGS, check_lang

HUMAN = "human"
"""What replays call the person."""
SEATS = ("0", "1", "2", "random")
MOST_DEALS = 1_000_000


def check_replays(path: Path) -> None:
    """Raise a `DdzError` where replays can't be added to a file: a folder, no right to write."""
    if path.is_dir():
        raise DdzError(f"--replays {path}: is a folder, expected a file")
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    if there != path and not there.is_dir():
        raise DdzError(f"--replays {path}: {there} is a file")
    if not os.access(there, os.W_OK):
        raise DdzError(f"--replays {path}: {there} can't be written to")


def pick_seat(text: str, seed: int) -> int:
    """A seat from 0, 1, 2 or `random`, which draws it from the seed.

    Raises:
        DdzError: none of these.
    """
    if text not in SEATS:
        raise DdzError(f"--seat: expected one of {', '.join(SEATS)}, got {brief(text)}")
    return random.Random(seed).randrange(3) if text == "random" else int(text)


def sit_down(
    rules: RuleSet,
    players: Sequence[Chooses],
    names: Sequence[str],
    adviser: tuple[str, Adviser],
    *,
    seat: str = "random",
    seed: int | None = None,
    deals: int | None = None,
    lang: str = "en",
    room: Room | None = None,
    replays: Path | None = None,
) -> Session:
    """A person at a new table; every argument is checked before anything is written.

    Args:
        rules: the room.
        players: of the seat after the person's and of the one before.
        names: of these two.
        adviser: name of the helper behind hints, and itself.
        seat: `0`, `1`, `2`, or `random`.
        seed: key of the table; another one each time unless given.
        deals: deals that are played, None until the person leaves.
        lang: `en` or `zh`.
        room: beans of the table.
        replays: file that finished deals are added to.

    Raises:
        DdzError: an argument that can't be used, by its option.
    """
    check_lang(lang)
    seed = random.SystemRandom().randrange(2**31) if seed is None else check_seed(seed)
    if deals is not None:
        whole("--deals", deals, 1, MOST_DEALS)
    mine = pick_seat(seat, seed)
    if replays is not None:
        check_replays(replays)

    def keep(game: Game, place: int) -> None:
        if replays is not None:
            write_replays(replays, [to_line(game, seated(place, names))])

    table = Table(rules, room, seed)
    return Session(
        table, mine, players, names, adviser=adviser, lang=lang, deals=deals, keep=keep
    )  # fmt: skip


def seated(seat: int, names: Sequence[str]) -> list[str]:
    """Who sits at each seat, for replays.

    Args:
        seat: the person's.
        names: of the seat after the person's and of the one before.
    """
    by_seat = {seat: HUMAN, (seat + 1) % 3: names[0], (seat + 2) % 3: names[1]}
    return [by_seat[k] for k in range(3)]


def play(session: Session, no_color: bool = False) -> int:
    """Play a session in the terminal: 0; 130 after Ctrl-C, 1 when nobody reads the output."""
    try:
        run(session, no_color=no_color)
    except BrokenPipeError:
        session.stop()
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is buffered
        return 1
    except KeyboardInterrupt:
        session.stop()
        print("\nstopped: a deal that is not over does not count", file=sys.stderr)
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    """Errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end with code 2."""
        print(f"{self.prog}: {message}; --help shows the options", file=sys.stderr)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    """The options."""
    parser = _Parser(prog="ddz_env", description="Play Dou Dizhu (斗地主) against bots.")
    add = parser.add_argument
    bots = f"one bot for both seats, or two, next seat first: {', '.join(BOTS)}; greedy"
    add("opponents", nargs="*", metavar="BOT", help=f"{bots} unless given")
    add("--rules", default="play_only", metavar="ROOM", help="a preset's name or a TOML file")
    add("--set", action="append", default=[], metavar="FIELD=VALUE",
        help="field of the room to change; may be given again")  # fmt: skip
    add("--seat", default="random", help="0, 1, 2 or random; in play_only seat 0 is the landlord")
    add("--seed", type=int, help="key of the table, for the same deals again")
    add("--deals", type=int, help="deals to play; until you leave unless given")
    add("--lang", default="en", help=f"{' or '.join(LANGS)}")
    add("--beans", type=int, default=10_000, help="what each seat starts with")
    add("--coefficient", type=int, default=1, help="beans a point")
    add("--fee", type=int, default=0, help="beans that the house takes of each seat and deal")
    add("--replays", type=Path, metavar="FILE", help="file that finished deals are added to")
    add("--no-color", action="store_true", help="no colours; NO_COLOR in the environment too")
    return parser


def pair_of(given: Sequence[str], default: str) -> tuple[str, str]:
    """Two players from none, one or two names.

    Raises:
        DdzError: more than two.
    """
    if len(given) > 2:
        raise DdzError(f"players: expected one for both seats or two, got {len(given)}")
    first = given[0] if given else default
    return first, given[1] if len(given) == 2 else first


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0; 2 with one line for an argument that can't be used; 130 after Ctrl-C.
    """
    options: Any = _parser().parse_args(arguments)
    try:
        names = pair_of(options.opponents, "greedy")
        session = sit_down(
            load_rules(options.rules, options.set),
            [make_bot(name) for name in names],
            names,
            ("greedy", adviser_of(make_bot("greedy"))),
            seat=options.seat,
            seed=options.seed,
            deals=options.deals,
            lang=options.lang,
            room=Room(options.coefficient, options.fee, 0, options.beans),
            replays=options.replays,
        )
        return play(session, options.no_color)
    except DdzError as error:
        print(f"ddz_env: {error}", file=sys.stderr)
    except OSError as error:
        if error.filename is None:
            raise
        print(f"ddz_env: {error.filename}: {error.strerror}", file=sys.stderr)
    return 2
