"""The three engines that we are compared with: their reading of the rules, and how they are asked.

Each is asked through its own code that lists legal moves: RLCard's `playable_cards_from_hand` and
`get_gt_cards`, OpenSpiel's `legal_actions` of a state that the same game has led to, DouZero's
`get_legal_card_play_actions`. None is imported before it is asked.
"""

import importlib.util
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from ddz_env.cards import RANKS, unpack
from ddz_env.catalogue import ACTIONS, FIRST_PLAY, N_ACTIONS, TEXTS, Category, action_id
from ddz_env.errors import DdzError
from ddz_env.rules import PRESETS, RuleSet
from eval import peers_faults
from eval.peers_faults import Change
from eval.peers_games import Follower, Lister, Position

LETTERS = RANKS[:15]
"""Ranks that a hand without wild cards has, ascending."""


class Oracle(Protocol):
    """An engine that can be asked."""

    follower: Follower
    """Is told of games that the states come from."""

    def listed(self, position: Position) -> list[Any]:
        """The keys of all that it lists as legal, in its order, as often as it lists them.

        A key is what `Peer.key` makes of an id, or a text where we have no such play.
        """
        ...

    def catalogue(self) -> set[Any]:
        """The keys of all plays it knows, empty where it has no list of them."""
        ...


def _no_faults(position: Position, ids: np.ndarray, lister: Lister) -> dict[str, Change]:
    """The prediction for an engine without known faults."""
    return {}


def _once(position: Position, listed: set[int], lister: Lister) -> Counter[int]:
    """The prediction for an engine that lists nothing twice."""
    return Counter(listed)


@dataclass(frozen=True)
class Peer:
    """An engine as we know it, whether or not it is installed."""

    name: str
    """Its name on the command line."""
    title: str
    """Its name in tables."""
    package: str
    """Its distribution's name."""
    module: str
    """What it is imported as."""
    install: str
    """What installs it."""
    open: Callable[[], Oracle]
    """Make it ready to be asked."""
    fields: Mapping[str, bool] = field(default_factory=dict)
    """Fields of `play_only` that its reading of the rules turns."""
    by_cards: bool = False
    """Its moves are cards without a type, so lists are compared as packed cards, not as ids."""
    faults: Callable[[Position, np.ndarray, Lister], dict[str, Change]] = _no_faults
    """What it must list otherwise than its reading says, by fault."""
    times: Callable[[Position, set[int], Lister], Counter[int]] = _once
    """How often it must list each play."""

    def rules(self) -> RuleSet:
        """Card play with this engine's reading of the rules."""
        return PRESETS["play_only"].replace(name=self.name, **self.fields)

    def key(self, ids: np.ndarray) -> list[int]:
        """What lists are compared by: ids, or packed cards."""
        return ACTIONS["need"][ids].tolist() if self.by_cards else ids.tolist()

    def text(self, key: Any) -> str:
        """A key of `Oracle.listed` in words: a play, its cards, or the engine's own text."""
        if isinstance(key, str):
            return repr(key)
        if key and self.by_cards:
            return _sorted_text(key)
        return TEXTS[key]

    @property
    def version(self) -> str | None:
        """Its installed version, None where it is not installed."""
        try:
            found = importlib.util.find_spec(self.module) is not None
            return version(self.package) if found else None
        except (ImportError, ValueError, PackageNotFoundError):
            return None


# ------------------------------------------------------------------------------------ RLCard


def _sorted_text(need: int, letters: str = LETTERS) -> str:
    """Cards ascending in another engine's letters."""
    return "".join(letters[r] * n for r, n in enumerate(unpack(need)[:15]))


class RLCardOracle:
    """RLCard: moves are texts of cards, which name a play under the default rules."""

    def __init__(self) -> None:
        from rlcard.games.doudizhu import judger, utils

        self.follower = Follower()
        self._judger, self._utils = judger.DoudizhuJudger, utils
        self._letters = "".join(utils.CARD_RANK_STR)
        plays = range(FIRST_PLAY, FIRST_PLAY + len(utils.CARD_TYPE[1]))
        self._texts = {0: "pass"} | {
            a: _sorted_text(int(ACTIONS[a]["need"]), self._letters) for a in plays
        }
        self._keys = {text: a for a, text in self._texts.items()}
        # Its cards have a rank, but for jokers, whose suit's first letter is what it reads.
        self._cards = [SimpleNamespace(rank=letter, suit="S") for letter in self._letters[:13]]
        self._cards += [SimpleNamespace(rank="", suit=f"{c}J") for c in self._letters[13:]]

    def listed(self, position: Position) -> list[Any]:
        """Its plays of a hand, or its list of those that are greater."""
        if not position.last:
            hand = _sorted_text(position.hand, self._letters)
            texts = self._judger.playable_cards_from_hand(hand)
        else:
            held = unpack(position.hand)[:15]
            cards = [card for card, n in zip(self._cards, held, strict=True) for _ in range(n)]
            texts = self._utils.get_gt_cards(
                SimpleNamespace(current_hand=cards),
                SimpleNamespace(played_cards=self._texts[position.last]),
            )
        return [self._keys.get(text, text) for text in texts]

    def catalogue(self) -> set[Any]:
        """Its table of types; a play whose type or order is not ours keeps its text."""
        types, found = self._utils.CARD_TYPE[0], set()
        weights: dict[str, set[tuple[int, int]]] = {}
        shapes: dict[str, set[tuple[int, int]]] = {}
        for text, ((name, weight),) in types.items():
            row = ACTIONS[self._keys.get(text, 0)]
            shapes.setdefault(name, set()).add((int(row["category"]), int(row["length"])))
            weights.setdefault(name, set()).add((int(weight), int(row["rank"])))
        agreed = {
            name
            for name, pairs in weights.items()
            if len(shapes[name]) == 1 and _same_order(sorted(pairs))
        }
        for text, ((name, _),) in types.items():
            found.add(self._keys.get(text, text) if name in agreed else text)
        return found


def _same_order(pairs: list[tuple[int, int]]) -> bool:
    """Whether both numbers of pairs, sorted by the first, rise together."""
    return all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


# --------------------------------------------------------------------------------- OpenSpiel


class OpenSpielOracle(Follower):
    """OpenSpiel: a state of its own plays along, and says what is legal now."""

    def __init__(self) -> None:
        import pyspiel

        self.follower = self
        self._game = pyspiel.load_game("dou_dizhu")
        self._ours: list[Any] = []
        self._theirs = np.full(N_ACTIONS, -1, np.int64)
        self.start(np.array([r for r in range(13) for _ in range(4)] + [13, 14], np.uint8))
        for theirs in range(self._game.num_distinct_actions()):
            ours = _open_spiel_key(self.state.action_to_string(0, theirs))
            self._ours.append(ours)
            if isinstance(ours, int):
                self._theirs[ours] = theirs

    def start(self, cards: np.ndarray) -> None:
        """Deal card by card to the three in turn; the first of them bids most and is landlord."""
        state = self._game.new_initial_state()
        state.apply_action(0)  # the first card dealt is the one face up, so seat 0 bids first
        suits = [0] * 15
        for place in range(51):
            rank = int(cards[17 * (place % 3) + place // 3])
            state.apply_action(51 + (52 + rank - 13 if rank > 12 else 13 * suits[rank] + rank))
            suits[rank] += 1
        state.apply_action(3)
        self.state = state
        """Its game, at the state that it is asked about."""

    def step(self, action: int) -> None:
        """Play on."""
        self.state.apply_action(int(self._theirs[action]))

    def playable(self, ids: Sequence[int]) -> Sequence[int]:
        """Those that it lists too."""
        legal = set(self.state.legal_actions())
        return [a for a in ids if self._theirs[a] in legal]

    def listed(self, position: Position) -> list[Any]:
        """Its legal actions.

        Raises:
            DdzError: its game is not at the position.
        """
        shown = self.state.observation_string(self.state.current_player())
        hand = _our_letters(shown.partition("\n")[0].removeprefix("My hand "))
        if hand != _sorted_text(position.hand):
            raise DdzError(f"OpenSpiel: {hand} is on turn, not {position}")
        return [self._ours[a] for a in self.state.legal_actions()]

    def catalogue(self) -> set[Any]:
        """All its actions but the pass and the bids."""
        return {key for key in self._ours if not isinstance(key, int) or key >= FIRST_PLAY}


def _our_letters(text: str) -> str:
    return text.replace("(BWJ)", "X").replace("(CJ)", "D")


_UNTYPED = (*peers_faults.BARE_CHAINS, Category.SOLO, Category.PAIR, Category.TRIO, Category.BOMB)
_UNTYPED += (Category.TRIO_WITH_SOLO, Category.TRIO_WITH_PAIR, Category.ROCKET)
_BY_CARDS = {
    _sorted_text(int(row["need"])): action
    for action, row in enumerate(ACTIONS)
    if row["category"] in _UNTYPED
}
"""Ids of what OpenSpiel prints as cards alone: no two of these categories share any."""


def _open_spiel_key(shown: str) -> int | str:
    """Our id of an action from the text it is printed as: airplanes have a dash, bids are calls."""
    text = _our_letters(shown)
    if text == "Pass":
        return 0
    if text.startswith("Bid "):
        return action_id(f"call_{text[4:]}")
    if "-" not in text:
        return _BY_CARDS.get(text, shown)
    try:
        return action_id(text.replace("-", "+"))
    except DdzError:
        return shown


# ----------------------------------------------------------------------------------- DouZero


class DouZeroOracle:
    """DouZero: moves are lists of cards; what they are is read from the cards."""

    def __init__(self) -> None:
        from douzero.env.game import GameEnv

        self.follower = Follower()
        self._env: Any = GameEnv([])
        self._env.acting_player_position = "landlord"
        self._numbers = [*range(3, 15), 17, 20, 30]  # its number of each rank
        needs = {int(need) for need in ACTIONS["need"]}
        self._moves = {need: self._cards(need) for need in needs}
        self._keys = {tuple(move): need for need, move in self._moves.items()}

    def _cards(self, need: int) -> list[int]:
        """Packed cards as its sorted list."""
        counts = unpack(need)[:15]
        return [c for c, n in zip(self._numbers, counts, strict=True) for _ in range(n)]

    def listed(self, position: Position) -> list[Any]:
        """Its legal moves after the play to beat. Its lists are copied: it changes them."""
        self._env.info_sets["landlord"].player_hand_cards = self._cards(position.hand)
        last = self._moves[int(ACTIONS[position.last]["need"])]
        self._env.card_play_action_seq = [list(last)] if position.last else []
        moves = map(tuple, self._env.get_legal_card_play_actions())
        return [self._keys.get(move, str(move)) for move in moves]

    def catalogue(self) -> set[Any]:
        """It has no list of all moves."""
        return set()


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer(
            "rlcard",
            "RLCard",
            "rlcard",
            "rlcard",
            "pip install rlcard==1.2.0",
            RLCardOracle,
        ),
        Peer(
            "open_spiel",
            "OpenSpiel",
            "open-spiel",
            "pyspiel",
            "pip install open-spiel==2.0.2",
            OpenSpielOracle,
            fields={
                "kicker_adjacent_trio": True,
                "four_with_two_solos": False,
                "four_with_two_pairs": False,
            },
            faults=peers_faults.open_spiel,
        ),
        Peer(
            "douzero",
            "DouZero",
            "douzero",
            "douzero",
            "pip install --no-deps douzero==1.1.0",
            DouZeroOracle,
            fields={
                "kicker_adjacent_trio": True,
                "kicker_four_solos": True,
                "kicker_both_jokers": True,
            },
            by_cards=True,
            faults=peers_faults.douzero,
            times=peers_faults.douzero_times,
        ),
    )
}
"""The engines by name."""
