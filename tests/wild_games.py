"""Games with wild cards for several tests: filled by ids, walked, brought to a hand."""

import random
from collections.abc import Iterator

from reference_rules import RANKS
from reference_wild import NATURAL

from ddz_env import PRESETS, Game, RuleSet, action_id, action_text

RULES = {**PRESETS, "laidou_jokers": PRESETS["laidou"].replace(wild="jokers")}
FILLS = {*(action_id(f"wild_as_{rank}") for rank in NATURAL), action_id("wild_done")}
BOMBS = {action_id(text) for text in [*(rank * 4 for rank in NATURAL), "XD"]}
SHOWS = ("show_before_deal", "show_at_6", "show_at_12", "show_after_bottom")


def wild_of(game: Game) -> str:
    """What is wild, as the reference names it."""
    fixed = {"red_sevens": "red7", "jokers": "jokers"}
    return fixed.get(game.rules.wild) or NATURAL[int(game.state["wild"])]


def to_beat(game: Game) -> str | None:
    """The text of the play to beat, None for who leads."""
    if int(game.state["last_action"]) == 0:
        return None
    return [text for _, text in game.history if not text.islower()][-1]


def some_id(rng: random.Random, game: Game) -> int:
    """A declaration that often is a long one or a bomb."""
    ids = game.legal_ids().tolist()
    bombs = [i for i in ids if i in BOMBS]
    if bombs and rng.random() < 0.4:
        return rng.choice(bombs)
    return max(rng.choice(ids), rng.choice(ids), key=lambda i: len(action_text(i)))


def play_by_ids(rng: random.Random, game: Game) -> str:
    """One whole play for the seat on turn, declared and then filled at random; its text."""
    seat, before = game.seat, len(game.history)
    game.step(some_id(rng, game))
    while game.phase == "fill":
        assert (game.seat, len(game.history)) == (seat, before)
        ids = game.legal_ids().tolist()
        assert set(ids) <= FILLS and len(ids) > 1 and ids == sorted(set(ids))
        game.step(rng.choice(ids))
    assert len(game.history) == before + 1
    who, text = game.history[-1]
    assert who == seat
    return text


def play_sparing_wilds(rng: random.Random, game: Game) -> None:
    """Of a few random plays the one with the fewest wilds, so that hands keep theirs."""
    copies = [game.clone() for _ in range(4)]
    texts = [play_by_ids(rng, copy) for copy in copies]
    game.step(min(texts, key=lambda text: (text.count("*"), -len(text))))


def step_before_play(rng: random.Random, game: Game, no: float = 0.5) -> str:
    """A choice of a phase before the play, "no" as often as given; its text."""
    legal = game.legal()
    yes = [choice for choice in legal if choice not in ("pass", "look")]
    text = rng.choice(yes) if rng.random() >= no else (set(legal) - set(yes)).pop()
    game.step(text)
    return text


def walk(rules: str | RuleSet, seeds: list[int] | range) -> Iterator[Game]:
    """Every decision of random deals that are sparing with wilds, no fillings, their ends too."""
    for seed in seeds:
        rng = random.Random(seed)
        game = Game(rules, seed=seed)
        while not game.over:
            yield game
            if game.phase == "play":
                play_sparing_wilds(rng, game)
            else:
                step_before_play(rng, game, 0.95 if game.phase in SHOWS else 0.5)
        yield game


def begin_play(name: str, hands: list[str], bottom: str, wild: str, **changes: int) -> Game:
    """Seat 0 is landlord and leads; of many seeds one that draws this wild rank."""
    rules = RULES[name].replace(**changes) if changes else RULES[name]
    for seed in range(400):
        game = Game(rules, seed=seed, first=0, deal={"hands": hands, "bottom": bottom})
        while game.phase != "play":
            wanted = {"call": "call", "call_points": "call_3"}.get(game.phase, "pass")
            game.step(wanted if game.seat == 0 or game.phase == "rob" else "pass")
        if RANKS[int(game.state["wild"])] == wild:
            return game
    raise AssertionError(f"no seed draws {wild}")
