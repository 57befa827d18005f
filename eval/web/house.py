"""All tables of a server: who may sit where, how many, and what a table does with a message."""

import random
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from agents.base import Agent, AgentError
from ddz_env.errors import DdzError
from ddz_env.game import Game
from ddz_env.money import Room
from ddz_env.play.command import pick_seat, seated
from ddz_env.replay import to_line, write_replays
from ddz_env.rooms import load_rules
from ddz_env.rules import PRESETS, RuleSet
from ddz_env.table import Table
from ddz_env.words import LANGS, check_lang
from eval.play import DEFAULT, LEVELS, Command, Loader, find_helper
from eval.web.limits import text_of
from eval.web.sessions import BrowserSession
from eval.web.table import WebTable

MOST_TABLES = 100
IDLE = 1800.0
"""Seconds after which a table that nobody is connected to may make place for another."""
AGENTS = ("random", "rlcard_rule", "greedy", "planner", "search", "dmc")
"""Agents that a client may ask for by name; others only the one who starts the server."""
BEST = "best"
"""The choice of the strongest quick agent of the room."""
SEATS = ("0", "1", "2", "random")
LIMITS = (0, 15, 30, 60)
"""Seconds to decide that a client may choose; 0: no limit."""


class OneAtATime:
    """An agent that several tables share: their threads ask it one after another."""

    def __init__(self, agent: Agent) -> None:
        self._agent, self._lock = agent, threading.Lock()

    def act(self, views: Any, legal: Any) -> Any:
        """As the agent's."""
        with self._lock:
            return self._agent.act(views, legal)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._agent, name)
        if name != "ranked":
            return found

        def ranked(views: Any, legal: Any) -> Any:
            with self._lock:
                return found(views, legal)

        return ranked


class SharedLoader(Loader):
    """A loader whose agents serve several threads; those that remember are made for each table."""

    def load(self, spec: str) -> Agent:
        """As `Loader.load`."""
        if spec not in self._kept:
            agent = super().load(spec)
            if spec not in self._kept:
                return agent
            self._kept[spec] = OneAtATime(agent)
        return self._kept[spec]


@dataclass(frozen=True)
class Wish:
    """What a client asks for: a room, two players, a seat."""

    rules: str
    players: tuple[str, str]
    seat: str
    lang: str
    limit: int
    open_hands: bool

    @classmethod
    def of(cls, data: dict[str, Any]) -> "Wish":
        """A client's object, checked as far as it needs no server.

        Raises:
            DdzError: a field of another type or out of range, by name.
        """
        limit, opened = data.get("limit", 0), data.get("open", False)
        if isinstance(limit, bool) or limit not in LIMITS:
            raise DdzError(f"limit: expected one of {LIMITS}")
        if not isinstance(opened, bool):
            raise DdzError("open: expected true or false")
        seat = text_of(data, "seat", "random")
        if seat not in SEATS:
            raise DdzError(f"seat: expected one of {', '.join(SEATS)}")
        following = text_of(data, "next", BEST, 200)
        return cls(
            rules=text_of(data, "rules", most=200),
            players=(following, text_of(data, "previous", following, 200)),
            seat=seat,
            lang=check_lang(text_of(data, "lang", "en")),
            limit=int(limit),
            open_hands=opened,
        )


class House:
    """All tables of a server.

    Args:
        command: what the server was started with; checked.
        most: tables at a time.
    """

    def __init__(self, command: Command, most: int = MOST_TABLES) -> None:
        self.command, self.most = command, most
        own = load_rules(command.rules, command.set)
        self.own_room = own.name if PRESETS.get(own.name) in (None, own) else f"{own.name} *"
        self.rooms: dict[str, RuleSet] = {**PRESETS, self.own_room: own}
        self.specs: dict[str, tuple[str, ...]] = {BEST: DEFAULT}
        self.specs |= {name: specs for name, (_, specs) in LEVELS.items()}
        self.specs |= {spec: (spec,) for spec in (*AGENTS, *command.agents)}
        self.tables: dict[str, WebTable] = {}
        self.pool = ThreadPoolExecutor(4, thread_name_prefix="table")
        self._loaders = {room: SharedLoader(rules) for room, rules in self.rooms.items()}
        self._lock, self._made = threading.Lock(), 0

    def options(self) -> dict[str, Any]:
        """What a client can choose from, and what is chosen unless it does."""
        given = self.command.agents or (self.command.level or BEST,)
        level = next((e for e, (zh, _) in LEVELS.items() if given[0] == zh), given[0])
        return {
            "rooms": list(self.rooms),
            "players": list(self.specs),
            "levels": {name: chinese for name, (chinese, _) in LEVELS.items()},
            "seats": SEATS,
            "limits": LIMITS,
            "langs": LANGS,
            "chosen": {
                "rules": self.own_room,
                "next": level,
                "previous": given[-1] if len(given) == 2 else level,
                "seat": self.command.seat,
                "lang": self.command.lang,
            },
        }

    # ------------------------------------------------------------------------------------ tables

    async def open(self, wish: Wish) -> WebTable:
        """A new table, its first deal begun.

        Raises:
            DdzError: a room or player that there is none of, or too many tables.
        """
        if wish.rules not in self.rooms:
            raise DdzError(f"rules: expected one of {', '.join(self.rooms)}")
        for name in wish.players:
            if name not in self.specs:
                raise DdzError(f"players: expected one of {', '.join(self.specs)}")
        self._make_place()
        self._made += 1
        token, number = secrets.token_urlsafe(24), self._made
        # The place is taken before the agents are loaded, which lets others in.
        table = self.tables[token] = WebTable(token, self.pool, wish.limit or None)
        try:
            await table.start(lambda: self._session(wish, number))
        except BaseException:
            self.tables.pop(token, None)
            raise
        return table

    def _make_place(self) -> None:
        """Close tables that nobody has used for long, if there are as many as may be.

        Raises:
            DdzError: all are in use.
        """
        if len(self.tables) < self.most:
            return
        now = time.monotonic()
        idle = [t for t in self.tables.values() if not t.listeners and now - t.used > IDLE]
        if not idle:
            raise DdzError(f"tables: all {self.most} are in use; try again later")
        for table in idle:
            self.close(table)

    def close(self, table: WebTable) -> None:
        """Forget a table."""
        table.stop()
        self.tables.pop(table.token, None)

    def find(self, token: Any) -> WebTable | None:
        """The table of a token, None for no such."""
        return self.tables.get(token) if isinstance(token, str) else None

    def stop(self) -> None:
        """Close everything."""
        for table in list(self.tables.values()):
            self.close(table)
        self.pool.shutdown(wait=False, cancel_futures=True)

    def _session(self, wish: Wish, number: int) -> BrowserSession:
        """The session of a new table; loads its agents."""
        command, rules = self.command, self.rooms[wish.rules]
        with self._lock:
            loader = self._loaders[wish.rules]
            names = [loader.first_of(self.specs[name]) for name in wish.players]
            players = [loader.load(name) for name in names]
            try:
                adviser = find_helper(command.helper, loader, names, players)
            except AgentError:  # the helper of the command's room plays in no other
                adviser = find_helper(None, loader, names, players)
        keys = keys_of(command.seed, number)
        seat = pick_seat(wish.seat, keys())
        table = Table(rules, Room(command.coefficient, command.fee, 0, command.beans), 0)

        def keep(game: Game, place: int) -> None:
            self._keep(game, seated(place, names))

        return BrowserSession(
            table, seat, players, names, adviser=adviser, lang=wish.lang, keys=keys,
            open_hands=wish.open_hands, keep=keep,
        )  # fmt: skip

    def _keep(self, game: Game, names: list[str]) -> None:
        """Add a finished deal to the command's file."""
        if self.command.replays is not None:
            with self._lock:
                write_replays(self.command.replays, [to_line(game, names)])


def keys_of(seed: int | None, number: int) -> Callable[[], int]:
    """Gives the keys of a table's deals: random, or by a seed and the table's number."""
    rng = random.SystemRandom() if seed is None else random.Random(f"{seed}/{number}")
    return lambda: rng.getrandbits(63)
