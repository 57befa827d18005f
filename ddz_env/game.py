"""One deal for people and programs that want to read it: a face of a record without rule code."""

from collections.abc import Iterator, Sequence
from operator import index
from typing import Any

import numpy as np

from ddz_env import core
from ddz_env._jit import records
from ddz_env.cards import (
    HAND_SIZE,
    RANKS,
    SEATS,
    check_deal,
    to_text,
    unpack,
)
from ddz_env.catalogue import (
    CHOICES,
    FIRST_PLAY,
    TEXTS,
    action_id,
    action_text,
)
from ddz_env.checks import brief, seat_of
from ddz_env.dealing import read_deal
from ddz_env.engine import start, start_from_deck
from ddz_env.errors import DdzError, FormatError, IllegalActionError, PlayError
from ddz_env.fillings import holding, parse_starred, starred, wilds_of
from ddz_env.midgame import place
from ddz_env.moves import MAX_LEGAL
from ddz_env.position import why_illegal
from ddz_env.rules import RuleSet, get_rules
from ddz_env.scoring import QUARTERS, multiplier
from ddz_env.seeds import check_seed
from ddz_env.state import ASK, MAX_HISTORY, STATE, Phase
from ddz_env.view import VIEW, cut_view

_MAGIC = b"ddz-state-0\n"
_OVER = int(Phase.OVER)


class Game:
    """One deal of a room.

    Args:
        rules: a preset's name or a `RuleSet`.
        seed: key of the deal, 0 .. 2**63 - 1; the same seed gives the same game anywhere.
        first: the seat that calls first (0..2); drawn from the seed when None.
        deal: 54 ranks (`cards.check_deal`) or `{"hands": [text] * 3, "bottom": text}`; shuffled
            from the seed when None. A redeal is always shuffled.

    Raises:
        DdzError: an argument out of range, named.
    """

    def __init__(
        self,
        rules: str | RuleSet = "play_only",
        seed: int = 0,
        first: int | None = None,
        deal: Any = None,
    ) -> None:
        self.rules = get_rules(rules)
        self._params = self.rules.params()
        _check_first(first)
        order = None
        if deal is not None:
            order = read_deal(deal, self.rules.wild == "red_sevens")
        self._rows = records(STATE, 1)
        self._ids = np.zeros(MAX_LEGAL, np.int32)
        key = np.uint64(check_seed(seed))
        start(self.state, key, -1 if first is None else first, self._params)
        self.given = order
        """The deck that was given, `uint8[54]`, None where it was shuffled from the seed."""
        if order is not None:
            self.state["deck"] = order
            start_from_deck(self.state, self._params)

    @classmethod
    def from_position(
        cls,
        hands: Sequence[str],
        last: str | None = None,
        turn: int = 0,
        *,
        rules: str | RuleSet = "play_only",
        landlord: int = 0,
        last_seat: int | None = None,
        played: Sequence[str] | None = None,
        bottom: str = "",
        wild: str | None = None,
        base: int = 1,
        seed: int = 0,
    ) -> "Game":
        """A game that goes on from the middle of the play.

        Nothing was called, shown or doubled before; no bomb has been played. The history holds
        the play to beat and the passes since, so `from_bytes` can't prove such a game.

        Args:
            hands: text of each seat's cards, none empty; wild ones as `W`.
            last: text of the play to beat (`44556*`, a star behind what a wild stands for); None
                for a lead.
            turn: the seat on turn.
            rules: a preset's name or a `RuleSet`.
            landlord: the landlord's seat.
            last_seat: who made the play to beat; the seat before `turn` unless given.
            played: text of the cards that each seat has played, `last` included; where not given
                the rest of the deck is dealt out in the order of ranks.
            bottom: text of the three bottom cards; unknown to all where empty.
            wild: rank of the wild cards, in rooms that draw one.
            base: the base of the score, 1..3.
            seed: key of the deals that follow.

        Raises:
            DdzError: an argument that is out of range or contradicts another, named.
        """
        room = get_rules(rules)
        rows = place(
            room, hands, last, turn, landlord=landlord, last_seat=last_seat, played=played,
            bottom=bottom, wild=wild, base=base, seed=check_seed(seed),
        )  # fmt: skip
        return cls.from_state(rows[0], room)

    def next_unshuffled(self, seed: int, first: int | None = None) -> "Game":
        """The next deal, from this one's cards as they lie (`unshuffled.py`).

        Args:
            seed: key of the next deal: the cut, and who calls first.
            first: the seat that calls first; drawn when None.
        """
        from ddz_env.unshuffled import start_unshuffled  # only who deals so needs its kernels

        _check_first(first)
        game = Game.from_state(self.state, self.rules)
        key = np.uint64(check_seed(seed))
        start_unshuffled(game.state, key, -1 if first is None else first, self._params)
        game.given = np.array(game.state["deck"])
        return game

    @property
    def rows(self) -> np.ndarray:
        """The record itself as a batch of one, `STATE[1]`."""
        return self._rows

    @property
    def state(self) -> Any:
        """The record itself, `STATE`."""
        return self._rows[0]

    @property
    def seat(self) -> int:
        """The seat that is asked, 0..2."""
        return int(self._rows["turn"][0])

    @property
    def asked(self) -> list[int]:
        """The seats that are still to choose: several where all choose at once, none at the end.

        Choices made at once stay hidden until the last seat has chosen; `step` takes them in the
        order of the seats.
        """
        waiting = [seat for seat, mark in enumerate(self._rows["choices"][0]) if mark == ASK]
        return [] if self.over else waiting or [self.seat]

    @property
    def phase(self) -> str:
        """What is being decided, by the names of `state.Phase` in lower case."""
        return Phase(int(self.state["phase"])).name.lower()

    @property
    def over(self) -> bool:
        """Whether the deal has ended."""
        return int(self._rows["phase"][0]) == _OVER

    @property
    def landlord(self) -> int | None:
        """The landlord's seat, None until there is one."""
        seat = int(self.state["landlord"])
        return None if seat < 0 else seat

    @property
    def winner(self) -> int | None:
        """The seat that went out, None while nobody has."""
        seat = int(self.state["winner"])
        return None if seat < 0 else seat

    @property
    def base(self) -> int:
        """The base of the score, 0 while nobody has called."""
        return int(self.state["base"])

    @property
    def multiplier(self) -> int:
        """The multiplier as it stands."""
        return int(multiplier(self.state, self._params))

    @property
    def scores(self) -> list[float]:
        """Points of each seat, 0 until the deal is over."""
        return [float(s) / QUARTERS for s in self.state["scores"]]

    @property
    def redeals(self) -> int:
        """How often the cards have been thrown in."""
        return int(self.state["redeals"])

    @property
    def hands(self) -> list[str]:
        """The text of each seat's hand."""
        return [to_text(int(h)) for h in self.state["hands"]]

    @property
    def bottom(self) -> str:
        """The text of the bottom cards."""
        return to_text(int(self.state["bottom"]))

    @property
    def history(self) -> list[tuple[int, str]]:
        """(seat, action text) of every decision since the last redeal."""
        n = int(self.state["n_history"])
        seats, actions = self.state["history_seat"][:n], self.state["history_action"][:n]
        cards = self.state["history_cards"][:n]
        return [
            (int(seat), starred(int(action), wilds_of(int(action), int(taken))))
            for seat, action, taken in zip(seats, actions, cards, strict=True)
        ]

    def legal_ids(self) -> np.ndarray:
        """The legal ids, ascending, `int32[n]`; empty when the deal is over."""
        return self._ids[: core.legal(self.state, self._params, self._ids)].copy()

    def legal(self) -> list[str]:
        """The legal choices and whole plays as texts, in the order of their ids.

        With wild cards a declaration stands here once for each way to fill it.
        """
        if self._params.wild and self.phase == "play":
            return holding(self.state, self._params).whole_plays()
        return [TEXTS[i] for i in self.legal_ids()]

    def step(self, action: str | int) -> None:
        """Make a choice for the seat on turn.

        Args:
            action: an id, or a text (cards in any order).

        Raises:
            PlayError: no such action.
            IllegalActionError: not legal now. Nothing has been changed.
        """
        if self._params.wild and self.phase == "play" and isinstance(action, str):
            for part in self.parts(action):
                core.apply(self.state, part, self._params)
        else:
            core.apply(self.state, self.check(action), self._params)

    def parts(self, text: str) -> Iterator[int]:
        """The ids that a decision is made of: what is declared, then how its stars fill it.

        Each is legal once those before it have been made, so make each before asking for the next.

        Raises:
            PlayError: no such action.
            IllegalActionError: not legal now.
        """
        if not self._params.wild or self.phase != "play":
            yield self.check(text)
            return
        action, wilds = parse_starred(text)
        if action >= FIRST_PLAY:
            reason = holding(self.state, self._params).why_not(action, wilds)
            if reason:
                raise IllegalActionError(f"{text}: {reason}")
        least = wilds_of(action, int(self.state["hands"][self.seat]))
        yield self.check(action)
        for rank, n in enumerate(unpack(wilds - least)):
            for _ in range(n):
                yield CHOICES[f"wild_as_{RANKS[rank]}"]
        if self.phase == "fill":
            yield CHOICES["wild_done"]

    def check(self, action: str | int) -> int:
        """The id of a choice that the seat on turn may make; so may all seats that are `asked`.

        Args:
            action: an id, or a text (cards in any order).

        Raises:
            PlayError: no such action.
            IllegalActionError: not legal now.
        """
        number = action_id(action) if isinstance(action, str) else _whole(action)
        text = action_text(number)
        if self.over:
            raise IllegalActionError(f"{text}: the deal is over")
        if not core.is_legal(self.state, number, self._params):
            raise IllegalActionError(f"{text}: {self._why_not(number)}")
        return number

    def _why_not(self, action: int) -> str:
        """Why an existing action is not legal now."""
        if self.phase != "play" or 0 < action < FIRST_PLAY:
            choices = ", ".join(self.legal()) if self.phase != "play" else "a play"
            return f"not a choice in phase {self.phase}; expected {choices}"
        last = int(self.state["last_action"])
        hand = int(self.state["hands"][self.seat])
        if self._params.wild and action >= FIRST_PLAY:
            return holding(self.state, self._params).why_not(action, 0)
        return why_illegal(hand, last, action, self.rules)

    def view(self, seat: int | None = None) -> Any:
        """What a seat may know, `VIEW`; the seat on turn unless given.

        Raises:
            RuleError: no such seat.
        """
        whose = self.seat if seat is None else seat_of("seat", seat)
        rows = records(VIEW, 1)
        cut_view(self.state, whose, self._params, rows[0])
        return rows[0]

    def __copy__(self) -> "Game":
        return self.clone()

    def clone(self) -> "Game":
        """An independent copy."""
        other = Game.from_state(self.state, self.rules)
        other.given = self.given
        return other

    @classmethod
    def from_state(cls, state: Any, rules: str | RuleSet) -> "Game":
        """A game with a copy of a record of a room, which is trusted to be one."""
        game = cls.__new__(cls)
        game.rules = get_rules(rules)
        game._params = game.rules.params()
        game._rows, game._ids = records(STATE, 1), np.zeros(MAX_LEGAL, np.int32)
        game._rows[0] = state
        game.given = None
        return game

    def to_bytes(self) -> bytes:
        """The game as bytes: a header, the room's name, the record."""
        return _MAGIC + self.rules.name.encode() + b"\n" + self._rows.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, rules: str | RuleSet | None = None) -> "Game":
        """A game from `to_bytes`; a custom room's rules have to be given.

        The record is proved by playing its history from its deck: kernels trust what it holds.

        Raises:
            FormatError: not such bytes, of another version or room, or edited.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise FormatError(f"game: expected bytes, got {type(data).__name__}")
        head, _, rest = bytes(data).partition(b"\n")
        name, _, body = rest.partition(b"\n")
        if head + b"\n" != _MAGIC or len(body) != STATE.itemsize:
            raise FormatError(f"game: expected {_MAGIC.decode().strip()!r} and a whole record")
        room = get_rules(name.decode(errors="replace") if rules is None else rules)
        if room.name != name.decode(errors="replace"):
            raise FormatError(f"game: of room {name.decode()!r}, expected {room.name!r}")
        record = np.frombuffer(body, STATE)[0]
        try:
            game = _played_again(record, room)
        except DdzError as error:
            raise FormatError(f"game: not the record of a deal: {error}") from error
        if game.state.tobytes() != body:
            raise FormatError("game: not the record of a deal: its parts contradict each other")
        return game

    def action_text(self, action: int) -> str:
        """The text of an action id."""
        return action_text(action)

    def action_id(self, text: str) -> int:
        """The id of an action's text."""
        return action_id(text)

    def __str__(self) -> str:
        lines = [f"{self.rules.name}, {self.phase}, multiplier {self.multiplier}"]
        for seat, hand in enumerate(self.hands):
            role = "landlord" if seat == self.landlord else ""
            asked = ">" if seat == self.seat and not self.over else " "
            lines.append(f"{asked} player_{seat} {role:8} {hand}")
        if self.over:
            lines.append("scores " + " ".join(f"{s:g}" for s in self.scores))
        return "\n".join(lines)


def _check_first(first: Any) -> None:
    """Raise unless it is a seat or None."""
    if first is not None:
        seat_of("first", first)


def _whole(action: Any) -> int:
    """An id as a Python number; floats are refused, not cut off, and so are True and False."""
    if isinstance(action, (bool, np.bool_)):
        raise PlayError(f"action {action!r}: expected an id or a text")
    try:
        return index(action)
    except TypeError:
        raise PlayError(f"action {brief(action)}: expected an id or a text") from None


def _declare_again(game: Game, record: Any) -> None:
    """Declare the pending play of a record and fill it as far as it was filled."""
    action = int(record["pending"])
    least = wilds_of(action, int(game.state["hands"][game.seat]))
    game.step(action)
    for rank, n in enumerate(unpack(max(int(record["pending_wilds"]) - least, 0))):
        for _ in range(n if rank < 13 else 0):
            game.step(CHOICES[f"wild_as_{RANKS[rank]}"])


def _played_again(record: Any, rules: RuleSet) -> Game:
    """The game that a record's deck and decisions lead to.

    Raises:
        DdzError: the record is out of range, or a decision is not legal.
    """
    highest = {"n_history": MAX_HISTORY, "first": 2, "redeals": rules.max_redeals}
    for name, high in highest.items():
        if not 0 <= record[name] <= high:
            raise FormatError(f"{name} {record[name]}")
    if not -1 <= record["turned"] < HAND_SIZE * SEATS:
        raise FormatError(f"turned {record['turned']}")
    game = Game.from_state(records(STATE, 1)[0], rules)
    state, n = game.state, int(record["n_history"])
    state["deck"] = check_deal(record["deck"], rules.wild == "red_sevens")
    for name in ("seed", "deal", "draws", "redeals", "first", "turned", "may_double"):
        state[name] = record[name]
    if rules.wild == "rank" and record["wild"] >= 0 and record["draws"] > 0:
        state["draws"] -= 1  # drawing the wild rank is a deal's last draw, and comes again
    start_from_deck(state, game._params)
    decisions = zip(record["history_action"][:n], record["history_cards"][:n], strict=True)
    for action, cards in decisions:
        text = starred(int(action), wilds_of(int(action), int(cards)))
        game.step(text if action >= FIRST_PLAY else int(action))
    if record["phase"] == Phase.FILL:
        _declare_again(game, record)
    for choice in record["choices"]:  # made at once and still hidden: 0 or 1
        if choice >= 0:
            game.step(int(game.legal_ids()[min(int(choice), 1)]))
    return game
