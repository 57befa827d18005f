"""Compare what an engine lists with what we list, state by state, and count every difference.

A play that both list is agreed. Any other is explained by a field of the rule set, which turned to
the engine's reading lists it as the engine does; or by a fault that was predicted; or it is left
over. A prediction that does not come true is left over too.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ddz_env.catalogue import ACTIONS, FIRST_PLAY, Category, Kicker
from ddz_env.rules import PRESETS, RuleSet
from eval.peers_engines import Oracle, Peer
from eval.peers_faults import REPEATED
from eval.peers_games import DEALS, Lister, Position, positions

TURNS = ("leading", "following")
SHOWN = 10
"""Differences left over that are kept as texts."""

_KICKER_FIELDS = {
    Kicker.ADJACENT_TRIO: "kicker_adjacent_trio",
    Kicker.FOUR_SOLOS: "kicker_four_solos",
    Kicker.BOTH_JOKERS: "kicker_both_jokers",
}
_CATEGORY_FIELDS = {
    category: category.name.lower()
    for category in (
        Category.TRIO_WITH_PAIR,
        Category.AIRPLANE_WITH_PAIRS,
        Category.FOUR_WITH_TWO_SOLOS,
        Category.FOUR_WITH_TWO_PAIRS,
    )
}


class Verdict(NamedTuple):
    """What explains the differences of one state; the plays are keys of `Peer.key`."""

    theirs: set[Any]
    """What the engine lists."""
    plays: int
    """Plays compared: those that the engine lists or we do under its reading, each once."""
    equal_default: bool
    """Whether it lists what we list under `play_only`."""
    equal_reading: bool
    """Whether it lists what we list under its reading."""
    fields: dict[str, set[Any]]
    """Differences that vanish when the field is turned."""
    faults: dict[str, set[Any]]
    """Differences that a fault predicts."""
    repeated: dict[Any, int]
    """Plays that it lists more than once, and how often."""
    left: dict[Any, str]
    """Differences that nothing explains, with what is wrong."""


def fields_of(rules: RuleSet, action: int) -> list[str]:
    """The fields in which `rules` must differ from `play_only` for a play to be in one only."""
    row, room = ACTIONS[action], PRESETS["play_only"]
    names = [name for bit, name in _KICKER_FIELDS.items() if int(row["kicker"]) & bit]
    category = _CATEGORY_FIELDS.get(Category(int(row["category"])))
    names += [category] if category else []
    return [name for name in names if getattr(rules, name) != getattr(room, name)]


def _field_plays(peer: Peer, default: np.ndarray, reading: np.ndarray) -> dict[Any, list[str]]:
    """The fields behind every play that only one of two of our lists has."""
    keys = set(peer.key(default)) ^ set(peer.key(reading))
    ids = np.setxor1d(default, reading, assume_unique=True)
    found: dict[Any, list[str]] = {}
    for key, action in zip(peer.key(ids), ids.tolist(), strict=True):
        if key in keys:
            names = fields_of(reader(peer).rules, action)
            if key not in found or len(names) < len(found[key]):
                found[key] = names
    return found


_readers: dict[str, Lister] = {}
_default = Lister(PRESETS["play_only"])


def reader(peer: Peer) -> Lister:
    """The lists of a peer's reading."""
    if peer.name not in _readers:
        _readers[peer.name] = Lister(peer.rules())
    return _readers[peer.name]


def judge(peer: Peer, position: Position, listed: list[Any]) -> Verdict:
    """Explain what an engine lists in a state, `Oracle.listed`."""
    lister = reader(peer)
    default_ids, ids = _default.ids(position), lister.ids(position)
    theirs, default, ours = set(listed), set(peer.key(default_ids)), set(peer.key(ids))
    changes = peer.faults(position, ids, lister)
    expected = set(ours)
    for change in changes.values():
        expected = (expected - change.lacks) | change.adds
    left = {key: "listed, which we do not predict" for key in theirs - expected}
    left |= {key: "lacking, which we do not predict" for key in expected - theirs}
    for change in changes.values():
        left |= {key: "not listed, against a prediction" for key in change.adds - theirs}
        left |= {key: "listed, against a prediction" for key in change.lacks & theirs}
    times, wanted = Counter(listed), peer.times(position, theirs & expected, lister)
    for key in theirs & expected:
        if times[key] != wanted[key]:
            left[key] = f"listed {times[key]} times, not {wanted[key]}"
    fields: dict[str, set[Any]] = defaultdict(set)
    if default != ours:
        for key, names in _field_plays(peer, default_ids, ids).items():
            if (key in theirs) != (key in default):
                for name in names:
                    fields[name].add(key)
    return Verdict(
        theirs=theirs,
        plays=len(theirs | ours),
        equal_default=theirs == default,
        equal_reading=theirs == ours,
        fields=fields,
        faults={name: set(c.adds | c.lacks) for name, c in changes.items() if c.adds | c.lacks},
        repeated={key: n for key, n in times.items() if n > 1},
        left=left,
    )


def catalogue(rules: RuleSet) -> np.ndarray:
    """The ids of all plays of a rule set without wild cards, `int64[n]`."""
    params, plays = rules.params(), ACTIONS[FIRST_PLAY:]
    allowed = (plays["kicker"] & ~np.uint8(params.kickers)) == 0
    allowed &= (params.categories >> plays["category"].astype(np.int64)) & 1 == 1
    return np.flatnonzero(allowed) + FIRST_PLAY


@dataclass
class Stratum:
    """States of one kind of deal and turn."""

    states: int = 0
    plays: int = 0
    equal_default: int = 0
    equal_reading: int = 0
    left_over: int = 0


@dataclass
class Cause:
    """Differences with one explanation."""

    states: int = 0
    plays: int = 0
    example: str = ""
    """The state with the fewest cards, and one of its plays."""
    size: int = 1000
    most: int = 0
    """The most times that one play was listed, for `REPEATED`."""

    def add(self, position: Position, plays: Iterable[str]) -> None:
        """Count a state and its plays, each with what the engine does with it."""
        texts = sorted(plays, key=lambda text: (len(text), text))
        self.states += 1
        self.plays += len(texts)
        example = f"{position}: {texts[0]}"
        if (position.size, example) < (self.size, self.example):
            self.size, self.example = position.size, example


@dataclass
class Tally:
    """All that was counted about one engine."""

    peer: str
    version: str
    catalogue: int = 0
    """Plays of its own list, 0 where it has none."""
    strata: dict[tuple[str, str], Stratum] = field(default_factory=dict)
    fields: dict[str, Cause] = field(default_factory=lambda: defaultdict(Cause))
    faults: dict[str, Cause] = field(default_factory=lambda: defaultdict(Cause))
    left: list[str] = field(default_factory=list)
    """The first differences left over."""
    left_over: int = 0
    """Plays left over, those of the catalogue included."""

    def leave(self, text: str) -> None:
        """Count a difference that nothing explains."""
        self.left_over += 1
        if len(self.left) < SHOWN:
            self.left.append(text)

    def add(self, peer: Peer, kind: str, position: Position, verdict: Verdict) -> None:
        """Count one state."""
        stratum = self.strata[kind, position.turn]
        stratum.states += 1
        stratum.plays += verdict.plays
        stratum.equal_default += verdict.equal_default
        stratum.equal_reading += verdict.equal_reading
        stratum.left_over += bool(verdict.left)
        for causes, found in ((self.fields, verdict.fields), (self.faults, verdict.faults)):
            for name, keys in found.items():
                verbs = {key: "lists" if key in verdict.theirs else "lacks" for key in keys}
                causes[name].add(position, (f"{v} {peer.text(k)}" for k, v in verbs.items()))
        if verdict.repeated:
            cause, counted = self.faults[REPEATED], verdict.repeated
            cause.add(position, (f"lists {peer.text(key)} {n} times" for key, n in counted.items()))
            cause.most = max(cause.most, *counted.values())
        for key, wrong in verdict.left.items():
            self.leave(f"{position}: {peer.text(key)} is {wrong}")


def quotas(states: int) -> dict[tuple[str, str], int]:
    """How many states of each kind of deal and turn: equal parts, the first ones larger."""
    strata = [(kind, turn) for kind in DEALS for turn in TURNS]
    return {s: states // 4 + (i < states % 4) for i, s in enumerate(strata)}


def states_of(peer: Peer, oracle: Oracle, states: int, seed: int) -> Iterator[tuple[str, Position]]:
    """Distinct states with the kind of their deal, as many as `quotas` says."""
    wanted, seen = quotas(states), set[Position]()
    for kind in DEALS:
        for position in positions(peer.rules(), kind, seed, oracle.follower):
            if not any(wanted[kind, turn] for turn in TURNS):
                break
            if wanted[kind, position.turn] and position not in seen:
                wanted[kind, position.turn] -= 1
                seen.add(position)
                yield kind, position


def compare(
    peer: Peer,
    states: int,
    seed: int,
    oracle: Oracle | None = None,
    progress: Callable[[int], None] = lambda n: None,
) -> Tally:
    """Compare an engine with our kernels.

    Args:
        peer: the engine as we know it.
        states: how many distinct states.
        seed: key of the games that they come from.
        oracle: whom to ask; the installed engine unless given.
        progress: told of the states done.
    """
    oracle = oracle or peer.open()
    tally = Tally(peer.name, peer.version or "")
    tally.strata = {stratum: Stratum() for stratum in quotas(states)}
    known = oracle.catalogue()
    tally.catalogue = len(known)
    if known:
        for key in sorted(map(peer.text, known ^ set(peer.key(catalogue(peer.rules()))))):
            tally.leave(f"catalogue: {key} is in one only")
    for n, (kind, position) in enumerate(states_of(peer, oracle, states, seed)):
        listed = oracle.listed(position)
        tally.add(peer, kind, position, judge(peer, position, listed))
        if n % 500 == 499:
            progress(n + 1)
    progress(states)
    return tally
