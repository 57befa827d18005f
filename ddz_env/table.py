"""Many deals at one table: beans, fees, escapes, first caller, levels, auto-play (rules par. 6).

A `Table` runs `Game`s one after another and keeps what they change. What a deal or an escape costs
is computed in money.py, titles are in levels.py, the file form in table_file.py.
"""

from collections.abc import Sequence
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from ddz_env._jit import records
from ddz_env.bots import Bot, make_bot
from ddz_env.engine import next_seed, start_from_deck
from ddz_env.errors import DdzError, IllegalActionError, RuleError
from ddz_env.game import Game
from ddz_env.levels import Title, title
from ddz_env.money import (
    EscapeCost,
    Role,
    Room,
    check_beans,
    count_bombs,
    escape_cost,
    pay_escape,
    settle_scores,
)
from ddz_env.rules import RuleSet, get_rules
from ddz_env.scoring import QUARTERS, bomb_product, multiply, show_multiplier
from ddz_env.state import NOT_ASKED, Phase
from ddz_env.table_file import HOUSE, Entry, Saved, dump, parse, read, write
from ddz_env.vector import Legal, check_seed, deal_seeds
from ddz_env.view import VIEW, cut_view


class Table:
    """Three seats with beans, and one deal after another.

    Attributes:
        rules: the room's `RuleSet`.
        room: the table's `Room`.
        game: the deal that is running or ran last, None before the first one.
        deals: deals begun so far.
        beans: what each seat has.
        points: points of each seat over all deals, escapes included.
        winnings: bean points of each seat: what settlements and escapes brought, without fees.
        ledger: every change of beans, `Entry`; sums to zero in every deal.
        autos: whether each seat is on auto-play.

    Args:
        rules: a preset's name or a `RuleSet`.
        room: what is played for; `Room()` when None.
        seed: key of the table's deals, 0 .. 2**63 - 1.
        beans: what each seat starts with; the room's number when None.

    Raises:
        DdzError: an argument out of range, named.
    """

    def __init__(
        self,
        rules: str | RuleSet = "qq_classic",
        room: Room | None = None,
        seed: int = 0,
        beans: Sequence[int] | None = None,
    ) -> None:
        if room is not None and not isinstance(room, Room):
            raise RuleError(f"room: expected a Room, got {room!r}")
        room = Room() if room is None else room
        rules = get_rules(rules)
        start = check_beans("beans", [room.beans] * 3 if beans is None else beans)
        key = int(deal_seeds(check_seed(seed), 1)[0])
        self._set(Saved(rules, room, int(seed), key, start, start))

    def _set(self, saved: Saved) -> None:
        """Take everything over from one value."""
        self.rules, self.room, self.seed = saved.rules, saved.room, saved.seed
        self.deals, self.ledger = saved.deals, list(saved.ledger)
        self.beans, self.winnings = list(saved.beans), list(saved.winnings)
        self.autos = list(saved.auto)
        self._key, self._first, self._start = saved.key, saved.first, list(saved.start)
        self._quarters = list(saved.points)
        self.game, self._unfled = saved.game, None
        if saved.fled and saved.game is not None:
            self._end(saved.game)
        self._params = self.rules.params()
        self._bot = make_bot(self.rules.autoplay)

    # ------------------------------------------------------------------------------------ state

    @property
    def running(self) -> bool:
        """Whether a deal is being played."""
        return self.game is not None and not self.game.over

    @property
    def points(self) -> list[float]:
        """Points of each seat over all deals, escapes included."""
        return [quarters / QUARTERS for quarters in self._quarters]

    @property
    def house(self) -> int:
        """What the house has got so far."""
        return sum(entry.amount for entry in self.ledger if entry.who == HOUSE)

    @property
    def titles(self) -> list[Title]:
        """The title of each seat, by what the room's titles count."""
        values = self.winnings if self.rules.levels == "beans" else self.points
        return [title(value, self.rules.levels) for value in values]

    def __str__(self) -> str:
        lines = [f"{self.rules.name}, {self.deals} deals, house {self.house}"]
        for seat, (beans, name) in enumerate(zip(self.beans, self.titles, strict=True)):
            auto = ", auto-play" if self.autos[seat] else ""
            lines.append(f"  player_{seat} {beans} beans, {name.english} {name.chinese}{auto}")
        return "\n".join(lines)

    # ------------------------------------------------------------------------------------ deals

    def rekey(self, key: int) -> None:
        """Deal the next deal, and those after it, from another key.

        Keys of finished deals are public, in replays; those that follow along a table's own can be
        computed from them.

        Args:
            key: of the next deal, 0 .. 2**63 - 1.

        Raises:
            DdzError: no such key.
        """
        self._key = check_seed(key)

    def _next_first(self) -> int | None:
        """Who calls first in the next deal; None where that is drawn with the deal."""
        if self.rules.first_caller != "rotates" or self.game is None:
            return None
        moved = self.game.redeals if self.rules.redeal_rotates else 0
        return (self._first + moved + 1) % 3

    def _begin(self, cards: Any = None) -> Game:
        """Deal; who has the beans may double."""
        game = Game(self.rules, self._key, self._next_first(), cards)
        self._key = int(next_seed(np.uint64(self._key)))
        return self._started(game)

    def _started(self, game: Game) -> Game:
        """A new game becomes the table's next deal."""
        self._first = int(game.state["first"])
        self.deals += 1
        game.state["deal"] = self.deals
        enough = [beans > self.room.double_threshold for beans in self.beans]
        if not all(enough):
            # Before the first phase, which may be the doubling in a room without calls.
            game.state["may_double"] = enough
            start_from_deck(game.state, self._params)
        self.game, self._unfled = game, None
        return game

    def deal(self, cards: Any = None) -> Game:
        """Start the next deal; auto-play goes on until somebody else is asked.

        Args:
            cards: the deal, as for `Game`; shuffled when None.

        Raises:
            CardError: no deal of 54 cards.
            IllegalActionError: a deal is running.
        """
        if self.running:
            raise IllegalActionError(f"deal: deal {self.deals} is not over yet")
        game = self._begin(cards)
        self.run_auto()
        return game

    def again(self) -> Game:
        """Deal the last deal once more, everybody one seat further: duplicate (复式) at one table.

        What seat 0 has (beans, points, ledger, auto-play) is seat 1's then, and so on; hands, the
        seat that calls first and the cards of redeals are those of the first time.

        Raises:
            IllegalActionError: a deal is running, or none has been dealt.
        """
        if self.game is None or self.running:
            what = "none has been dealt" if self.game is None else f"deal {self.deals} is not over"
            raise IllegalActionError(f"again: {what}")
        game = Game(self.rules, int(self.game.state["seed"]), self._first, self.game.given)
        seats: list[list[Any]] = [
            self.beans,
            self.winnings,
            self.autos,
            self._start,
            self._quarters,
        ]
        for values in seats:
            values.insert(0, values.pop())
        self.ledger = [
            entry if entry.who == HOUSE else entry._replace(who=(int(entry.who) + 1) % 3)
            for entry in self.ledger
        ]
        self._started(game)
        self.run_auto()
        return game

    def _running_game(self, what: str) -> Game:
        """The running deal.

        Raises:
            IllegalActionError: there is none.
        """
        if self.game is None or self.game.over:
            raise IllegalActionError(f"{what}: no deal is running; start one with deal()")
        return self.game

    def step(self, action: str | int) -> None:
        """Make a choice for the seat on turn; then auto-play, and the settlement when it is over.

        Args:
            action: an id, or a text (cards in any order).

        Raises:
            PlayError: no such action.
            IllegalActionError: not legal now, or no deal is running. Nothing has been changed.
        """
        self._step(self._running_game("step"), action)
        self.run_auto()

    def _step(self, game: Game, action: str | int) -> None:
        game.step(action)
        if game.over:
            self._settle(game)

    def auto(self, seat: int, on: bool = True) -> None:
        """Switch a seat's auto-play; switched on, it plays at once when its turn has come.

        Raises:
            RuleError: no such seat.
        """
        seat = self._seat(seat)
        if not isinstance(on, bool | np.bool_):
            raise RuleError(f"on: expected true or false, got {on!r}")
        self.autos[seat] = bool(on)
        self.run_auto()

    def run_auto(self) -> None:
        """Play for the seats on auto-play until another is asked or the deal is over."""
        while self.game is not None and not self.game.over and self.autos[self.game.seat]:
            self._step(self.game, self._choice(self.game, self._bot))

    def play(self, bots: Sequence[Bot]) -> Game:
        """Play the running deal, or else the next one, to its end: one bot a seat.

        Raises:
            DdzError: not three players, or one that answers with an illegal action; the choices
                made until then stand.
        """
        if len(bots) != 3:
            raise DdzError(f"bots: expected one a seat, got {len(bots)}")
        game = self.game if self.game is not None and not self.game.over else self._begin()
        while not game.over:
            auto = self.autos[game.seat]
            self._step(game, self._choice(game, self._bot if auto else bots[game.seat]))
        return game

    def _choice(self, game: Game, bot: Bot) -> int:
        """What a bot chooses for the seat on turn, in a batch of one."""
        ids, views = game.legal_ids(), records(VIEW, 1)
        cut_view(game.state, game.seat, self._params, views[0])
        return int(bot.act(views, Legal(np.array([0, len(ids)]), ids))[0])

    @staticmethod
    def _seat(seat: Any) -> int:
        """A seat as a number.

        Raises:
            RuleError: no such seat.
        """
        try:
            number = index(seat)
        except TypeError:
            number = -1
        if isinstance(seat, bool) or number not in (0, 1, 2):
            raise RuleError(f"seat: expected 0, 1 or 2, got {seat!r}")
        return number

    # ------------------------------------------------------------------------------------ money

    def _book(self, what: str, amounts: Sequence[int], house: int) -> None:
        """Change the beans and write it down."""
        for who, amount in zip((0, 1, 2, HOUSE), (*amounts, house), strict=True):
            if amount:
                self.ledger.append(Entry(self.deals, who, what, int(amount)))
        for seat, amount in enumerate(amounts):
            self.beans[seat] += int(amount)
            if what != "fee":
                self.winnings[seat] += int(amount)

    def _settle(self, game: Game) -> None:
        """Pay for a deal that has ended; a void one costs nothing."""
        if game.winner is None or game.landlord is None:
            return
        paid = settle_scores(self.rules, game.scores, game.landlord, self.room, self.beans)
        for seat, score in enumerate(game.state["scores"]):
            self._quarters[seat] += int(score)
        fees = [a - b for a, b in zip(paid.after_fee, paid.before_fee, strict=True)]
        self._book("settlement", paid.before_fee, paid.house)
        self._book("fee", fees, -sum(fees))

    def _play_multiplier(self, game: Game) -> int:
        """Robs, shows, blind grab, raises and bombs: what escapes count, without the room's own."""
        state, params = game.state, self.rules.replace(start_multiplier=1).params()
        bombs = int(state["bomb_factor"])
        if self.rules.escape in ("by_multiplier", "actual"):
            dealt = self.rules.escape_bombs == "all_dealt"
            bombs = 1 if dealt else bombs
            if game.landlord is not None:  # counted on the hands after the bottom cards
                for hand, played in zip(state["hands"], state["played"], strict=True):
                    cards = int(hand) + (int(played) if dealt else 0)
                    bombs *= int(bomb_product(params, *count_bombs(cards, int(state["wild"]))))
        robs = sum(int(rob) == 1 for rob in state["robs"])
        shows = int(show_multiplier(state, params))
        blind, raises = int(state["blind"]), int(state["raises"])
        return int(multiply(params, shows, robs, bombs, blind, raises, 0))

    def _escape_cost(self, game: Game, seat: int, others: Sequence[int]) -> EscapeCost:
        """What a seat's escape costs as the deal stands; `others` in the order of `EscapeCost`."""
        lord = game.landlord
        role: Role = "any" if lord is None else "landlord" if seat == lord else "farmer"
        doubles = [bool(double) for double in game.state["doubles"]]
        farmers = others if seat == lord else (seat, others[1])
        called = lord is not None or int(game.state["caller"]) >= 0
        play = self._play_multiplier(game)
        return escape_cost(
            self.rules,
            escapes=role,
            base=game.base if called else None,
            multiplier=self.rules.start_multiplier * play,
            play_multiplier=play,
            landlord_doubles=lord is not None and doubles[lord],
            farmer_doubles=[doubles[farmer] for farmer in farmers],
        )

    def escape(self, seat: int) -> EscapeCost:
        """A seat flees: the deal ends, and it pays the penalty of the room.

        Possible in every phase. Before the first deal and between deals it costs what it would at
        the very beginning of the next one, which it ends.

        Returns:
            What it costs in points; beans are paid as far as there are any.

        Raises:
            RuleError: no such seat.
        """
        seat = self._seat(seat)
        game = self.game if self.game is not None and not self.game.over else self._begin()
        others = [(seat + 1) % 3, (seat + 2) % 3]
        if game.landlord == others[1]:  # of a farmer first the landlord, then the partner
            others.reverse()
        cost = self._escape_cost(game, seat, others)
        amounts, house = pay_escape(cost, seat, others, self.room, self.beans)
        self._end(game)
        self._quarters[seat] -= int(cost.penalty * QUARTERS)
        for other, gain in zip(others, cost.others, strict=True):
            self._quarters[other] += int(gain * QUARTERS)
        self._book("escape", amounts, house)
        return cost

    def _end(self, game: Game) -> None:
        """End a deal that somebody fled from; as it was it stays in files, which check records."""
        self._unfled = game.clone()
        game.state["phase"] = Phase.OVER
        game.state["choices"] = NOT_ASKED

    # ------------------------------------------------------------------------------------ files

    def to_json(self) -> str:
        """The whole table, a running deal included, as one line of JSON."""
        return dump(
            Saved(
                rules=self.rules,
                room=self.room,
                seed=self.seed,
                key=self._key,
                deals=self.deals,
                first=self._first,
                start=self._start,
                beans=self.beans,
                points=self._quarters,
                winnings=self.winnings,
                auto=self.autos,
                ledger=self.ledger,
                game=self._unfled or self.game,
                fled=self._unfled is not None,
            )
        )

    @classmethod
    def from_json(cls, text: str) -> "Table":
        """A table from `to_json`; it goes on as if nothing had happened.

        Raises:
            FormatError: cut off, newer or edited, by what is at fault.
        """
        table = cls.__new__(cls)
        table._set(parse(text))
        return table

    def save(self, path: str | Path) -> None:
        """Write `to_json` to a file, whole or not at all.

        Raises:
            FormatError: it can't be written; what was there is unchanged.
        """
        write(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Table":
        """A table from a file that `save` wrote.

        Raises:
            FormatError: no such file, or as `from_json`.
        """
        return cls.from_json(read(path))
