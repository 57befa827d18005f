"""What a picture of a deal shows: `Scene`, cut from what one seat may know, or with all hands open.

Screens and pictures are made from scenes alone, so what is not in a scene can't be seen in them.
"""

from dataclasses import dataclass
from typing import Any

from ddz_env.cards import HAND_SIZE, RANKS
from ddz_env.catalogue import FIRST_PLAY, TEXTS
from ddz_env.errors import DdzError
from ddz_env.fillings import starred, wilds_of
from ddz_env.game import Game
from ddz_env.rules import RuleSet
from ddz_env.scoring import QUARTERS
from ddz_env.state import Phase
from ddz_env.view import cards_dealt, hand_dealt

_SHOWS = ("", "show_before_deal", "show_at_6", "show_at_12", "show_after_bottom")


@dataclass(frozen=True)
class Player:
    """One seat of a scene.

    Attributes:
        role: `landlord`, `landlord_down`, `landlord_up`, empty until there is a landlord.
        hand: packed cards; None where they are hidden.
        left: cards in the hand, 0..20.
        played: packed cards that the seat has played.
        last: its last play or pass in this trick, before the play its last choice; or empty.
        marks: what it did before the play that still counts: calls, shows with their multiplier.
        score: its points of a finished deal, else None.
    """

    role: str
    hand: int | None
    left: int
    played: int
    last: str
    marks: tuple[tuple[str, int], ...]
    score: float | None


@dataclass(frozen=True)
class Scene:
    """A deal as it is shown.

    Attributes:
        room: the name of the room.
        phase: the phase by the name of `state.Phase` in lower case.
        seat: whose view this is, None with all hands open.
        turn: the seat that is asked, None when the deal is over.
        base: the base of the score, 0 while nobody has called.
        multiplier: the multiplier as it stands.
        landlord: his seat, None until there is one.
        bottom: packed bottom cards, None while they are hidden.
        wild: letter of the rank that is wild, `jokers`, or empty.
        red_wild: whether only the two red cards of the rank are wild.
        turned: letter and holder of the card turned face up, None without.
        to_beat: the seat whose play stands, None when leading.
        declared: the play that is being filled, as far as it is; or empty.
        unseen: packed cards that the seat has not seen, None with all hands open.
        redeals: how often the cards were thrown in.
        winner: the seat that went out, None while nobody has.
        spring: whether the deal ended as a spring that counts.
        players: the three seats.
    """

    room: str
    phase: str
    seat: int | None
    turn: int | None
    base: int
    multiplier: int
    landlord: int | None
    bottom: int | None
    wild: str
    red_wild: bool
    turned: tuple[str, int] | None
    to_beat: int | None
    declared: str
    unseen: int | None
    redeals: int
    winner: int | None
    spring: bool
    players: tuple[Player, ...]

    @property
    def result(self) -> str:
        """How a finished deal ended, as a term of `words`; empty before."""
        if self.phase != "over":
            return ""
        if self.winner is None:
            return "void deal"
        return "landlord wins" if self.winner == self.landlord else "farmers win"


def look(game: Game, seat: int | None) -> Scene:
    """The scene of a game for a seat, or with all hands open.

    Raises:
        DdzError: no such seat.
    """
    if seat is not None and (isinstance(seat, bool) or seat not in (0, 1, 2)):
        raise DdzError(f"seat: expected 0..2 or None for all hands, got {seat!r}")
    view = game.view(seat)
    over = view["phase"] == Phase.OVER
    bottom, hands = int(view["bottom"]), _seen_hands(view)
    if seat is None:
        bottom, hands = _open_hands(game)
    last = _last_decisions(view)
    if seat is None:
        _reveal_choices(game, last)
    players = tuple(
        Player(
            role=_role(view, other),
            hand=hands[other],
            left=int(view["counts"][other]),
            played=int(view["played"][other]),
            last=last[other],
            marks=_marks(view, other, game.rules),
            score=float(view["scores"][other]) / QUARTERS if over else None,
        )
        for other in range(3)
    )
    turned = int(view["turned_rank"])
    declared = int(view["pending"])
    return Scene(
        room=game.rules.name,
        phase=Phase(int(view["phase"])).name.lower(),
        seat=seat,
        turn=None if over else int(view["turn"]),
        base=int(view["base"]),
        multiplier=int(view["multiplier"]),
        landlord=_seat(view["landlord"]),
        bottom=bottom or None,
        wild=_wild(int(view["wild"])),
        red_wild=game.rules.wild == "red_sevens",
        turned=(RANKS[turned], int(view["turned_seat"])) if turned >= 0 else None,
        to_beat=_seat(view["last_seat"]),
        declared=starred(declared, int(view["pending_wilds"])) if declared else "",
        unseen=None if seat is None else int(view["unseen"]),
        redeals=int(view["redeals"]),
        winner=_seat(view["winner"]),
        spring=bool(over and game.rules.spring and _is_spring(view)),
        players=players,
    )


def _seat(number: Any) -> int | None:
    """A seat of a record, None for nobody."""
    return None if number < 0 else int(number)


def _wild(rank: int) -> str:
    """What is wild, as a letter or a word."""
    if rank < 0:
        return ""
    return RANKS[rank] if rank < 13 else "jokers"


def _seen_hands(view: Any) -> list[int | None]:
    """The hands that a view shows; a hand that has cards and shows none is hidden."""
    pairs = zip(view["hands"], view["counts"], strict=True)
    return [None if hand == 0 and count > 0 else int(hand) for hand, count in pairs]


def _open_hands(game: Game) -> tuple[int, list[int | None]]:
    """The bottom cards and every hand, as far as the cards have been dealt."""
    state, params = game.state, game.rules.params()
    dealt = cards_dealt(state, params)
    hands: list[int | None] = [int(hand_dealt(state, seat, dealt)) for seat in range(3)]
    return int(state["bottom"]) if dealt == HAND_SIZE else 0, hands


def _role(view: Any, seat: int) -> str:
    """A seat's role."""
    if view["landlord"] < 0:
        return ""
    return ("landlord", "landlord_down", "landlord_up")[(seat - int(view["landlord"])) % 3]


def _marks(view: Any, seat: int, rules: RuleSet) -> tuple[tuple[str, int], ...]:
    """What a seat did before the play, each with what it multiplies (0: nothing)."""
    marks: list[tuple[str, int]] = []
    call, show = int(view["calls"][seat]), int(view["shows"][seat])
    if call > 0:
        marks.append((f"call_{call}" if rules.auction == "points" else "call", 0))
    if view["blind"] and view["landlord"] == seat:
        marks.append(("blind", rules.blind_multiplier))
    if view["robs"][seat] == 1:
        marks.append(("rob", rules.rob_multiplier))
    if show > 0:
        marks.append(("show", getattr(rules, _SHOWS[show])))
    if view["doubles"][seat]:
        marks.append(("double", 2))
    return tuple(marks)


def _last_decisions(view: Any) -> list[str]:
    """What each seat did last: in this trick, or before the play; empty where it did nothing.

    When both others have passed, the seat that leads has an empty place.
    """
    last, playing, passes, raises = ["", "", ""], False, 0, 0
    n = int(view["n_history"])
    rows = zip(
        view["history_seat"][:n], view["history_action"][:n], view["history_cards"][:n], strict=True
    )
    for seat, action, cards in rows:
        if action >= FIRST_PLAY:
            if not playing or passes == 2:
                last = ["", "", ""]
            playing, passes = True, 0
            last[seat] = starred(int(action), wilds_of(int(action), int(cards)))
        elif playing:
            passes += 1
            last[seat] = "pass"
        else:
            text = "no" if action == 0 else TEXTS[action]
            raises += text == "raise"
            last[seat] = f"raise_{raises}" if text == "raise" else text
    if playing and passes == 2:
        last[int(view["turn"])] = ""
    return last


def _reveal_choices(game: Game, last: list[str]) -> None:
    """Write choices made at once, which all seats still hide, as what these seats did last."""
    yes = "double" if game.phase == "double" else "show"
    for seat, choice in enumerate(game.state["choices"]):
        if choice >= 0:
            last[seat] = yes if choice else "no"


def _is_spring(view: Any) -> bool:
    """Whether a finished deal is a spring by the plays of its seats (rules par. 5)."""
    lord, plays = int(view["landlord"]), view["plays"]
    if view["winner"] < 0:
        return False
    if view["winner"] == lord:
        return plays[(lord + 1) % 3] == 0 and plays[(lord + 2) % 3] == 0
    return plays[lord] == 1
