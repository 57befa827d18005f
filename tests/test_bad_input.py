"""What is refused: always a one-line `DdzError` that names the thing; nothing is changed by it."""

import dataclasses

import numpy as np
import pytest
from reference_rules import RANKS

import ddz_env
from ddz_env import (
    PRESETS,
    DdzError,
    FormatError,
    Game,
    IllegalActionError,
    PlayError,
    RuleError,
    RuleSet,
    SeatVectorEnv,
    env,
    explain,
    legal_plays,
    n_actions,
    parallel_env,
    raw_env,
    vec_env,
)
from ddz_env.cards import deck
from ddz_env.vector import deal_seeds

DECK = "".join(rank * 4 for rank in RANKS[:13]) + "XD"
HANDS = ["33334444555566667", "77788889999TTTTJJ", "JJQQQQKKKKAAAA222"]


def refused(call, *words):
    """The call raises a `DdzError` of one line with these words in it."""
    with pytest.raises(DdzError) as error:
        call()
    message = str(error.value)
    assert isinstance(error.value, ValueError)
    assert message and "\n" not in message and len(message) < 400
    for word in words:
        assert word in message, message


def test_every_error_is_a_value_error():
    errors = [getattr(ddz_env, name) for name in ddz_env.__all__ if name.endswith("Error")]
    assert len(errors) == 6
    assert all(issubclass(error, DdzError) and issubclass(error, ValueError) for error in errors)


@pytest.mark.parametrize(
    ("hand", "words"),
    [
        ("33333", ["5", "'3'"]),
        ("XX", ["2", "'X'"]),
        ("34W", ["'W'"]),
        ("34?", ["'?'"]),
        ("1", ["'1'"]),
        ("", ["hand"]),
        (None, ["None"]),
        (345, ["345"]),
        (DECK[:21], ["21"]),
        ("3\n\n4", ["'\\n'"]),
    ],
)
def test_hands(hand, words):
    refused(lambda: legal_plays(hand), *words)
    refused(lambda: explain(hand, None, "3"), *words)


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("34", ["34"]),
        ("pass", ["pass"]),
        ("call_1", ["call_1"]),
        ("333+5Z", ["'Z'"]),
        ("", ["''"]),
        (92, ["92"]),
        ("666777+XD", ["666777+XD", "play_only"]),
    ],
)
def test_last_plays(last, words):
    refused(lambda: legal_plays("34567", last), *words)
    refused(lambda: explain("34567", last, "pass"), *words)


def test_a_last_play_that_the_room_lacks():
    room = PRESETS["play_only"].replace(trio_with_pair=False, name="poor")
    assert legal_plays("44455", "333+66") == ["pass", "444+55"]
    refused(lambda: legal_plays("44455", "333+66", room), "333+66", "poor")
    assert explain("44455", None, "444+55", room).startswith("illegal: 444+55: room poor")


def test_what_is_no_play_is_explained():
    for play in ("34", "444+444", "5?", "call_3"):
        verdict = explain("3334445", None, play)
        assert verdict.startswith("illegal: ") and play in verdict and "\n" not in verdict


@pytest.mark.parametrize("make", [Game, env, parallel_env, n_actions, lambda r: vec_env(1, r)])
@pytest.mark.parametrize("room", ["mahjong", "", None, 3, "Play_only"])
def test_rooms(make, room):
    refused(lambda: make(room), repr(room), "play_only", "qq_classic")


def test_wild_ranks():
    refused(lambda: legal_plays("34567", wild="7"), "'7'", "play_only")


BAD_DEALS = [
    ({"hands": HANDS, "bottom": "2X"}, ["bottom", "2"]),
    ({"hands": HANDS, "bottom": "2XX"}, ["'X'"]),
    ({"hands": HANDS, "bottom": "22X"}, ["'2'"]),
    ({"hands": HANDS, "bottom": "3XD"}, ["'3'"]),
    ({"hands": [HANDS[0][:16], *HANDS[1:]], "bottom": "2XD"}, ["hand 0", "16"]),
    ({"hands": [HANDS[0], HANDS[1] + "2", HANDS[2]], "bottom": "2XD"}, ["hand 1", "18"]),
    ({"hands": HANDS[:2], "bottom": "2XD"}, ["three hands"]),
    ({"hands": "33334444", "bottom": "2XD"}, ["three hands"]),
    ({"hands": HANDS, "bottom": None}, ["None"]),
    ({"hands": HANDS}, ["bottom"]),
    ({"hands": HANDS, "bottom": "2XD", "more": 1}, ["hands", "bottom"]),
    ("3" * 54, ["deal"]),
    ([0] * 54, ["54", "'3'"]),
    (list(range(53)), ["53"]),
    (np.zeros((2, 27), int), ["54"]),
    ([RANKS.index(c) for c in DECK[:53]] + [15], ["0..14"]),
    ([RANKS.index(c) for c in DECK[:53]] + [-1], ["0..14"]),
    ([float(RANKS.index(c)) for c in DECK], ["0..14"]),
    ([RANKS.index(c) for c in DECK[:53]] + [13], ["2", "'X'"]),
    (object(), ["deal"]),
]


@pytest.mark.parametrize(("deal", "words"), BAD_DEALS)
def test_deals(deal, words):
    refused(lambda: Game(deal=deal), *words)


def test_deals_with_red_sevens():
    """Two sevens are wild: they are told from the others, and there are no more."""
    cards = deck(red_sevens=True)
    assert Game("laidou", deal=cards).bottom == "DWW"
    refused(lambda: Game(deal=cards), "0..14")
    refused(lambda: Game("happy_laizi", deal=cards), "0..14")
    refused(lambda: Game("laidou", deal=deck()), "4", "'7'", "2")
    refused(lambda: Game("laidou", deal=np.append(cards[:53], 16)), "0..15")


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, "1", None, True, [1]])
def test_seeds(seed):
    refused(lambda: Game(seed=seed), "seed", repr(seed))
    rows = 1 if seed != [1] else 2  # a list is a key for each row
    refused(lambda: vec_env(rows, seed=seed), "seed", repr(seed))
    refused(lambda: vec_env(rows).reset(seed), "seed", repr(seed))
    refused(lambda: deal_seeds(seed, 1), "seed", repr(seed))
    if seed is not None:
        for make in (env, parallel_env):
            refused(lambda make=make: make().reset(seed=seed), "seed", repr(seed))


def test_largest_seed():
    assert Game(seed=2**63 - 1).hands == Game(seed=np.int64(2**63 - 1)).hands


@pytest.mark.parametrize("first", [3, -1, 1.5, "0", True])
def test_first_callers(first):
    refused(lambda: Game("qq_classic", first=first), "first", repr(first))


@pytest.mark.parametrize("num_envs", [0, -1, 1.5, "2", None, True])
def test_batch_sizes(num_envs):
    refused(lambda: vec_env(num_envs), "num_envs", repr(num_envs))


BAD_VALUES = {
    "bool": (1, 0, "yes", None, 1.0),
    "int": (-1, 2.5, "2", True, None, 10**6, float("nan")),
    "str": ("", 3, None, "two\nlines", b"bytes"),
    "Literal": ("other", None, 1, True, ["none"]),
}


@pytest.mark.parametrize("field", dataclasses.fields(RuleSet), ids=lambda field: field.name)
def test_rule_fields(field):
    kind = "Literal"
    for simple in (bool, int, str):
        if field.type in (simple, simple.__name__):
            kind = simple.__name__
    for value in BAD_VALUES[kind]:
        if field.name == "cap" and value == 10**6:  # the only number that may be so large
            value = 10**9 + 1
        changes = {field.name: value}
        refused(lambda c=changes: RuleSet(**c), field.name, repr(value))
        refused(lambda c=changes: PRESETS["qq_classic"].replace(**c), field.name, repr(value))


def test_rule_fields_at_their_bounds():
    for field, low, high in (
        ("max_redeals", 0, 1000),
        ("start_multiplier", 1, 1000),
        ("bomb_multiplier", 1, 16),
        ("soft_bomb_multiplier", 1, 16),
        ("pure_bomb_multiplier", 1, 16),
        ("rocket_multiplier", 1, 16),
        ("score_quarters", 1, 400),
        ("cap", 0, 10**9),
        ("soft_bomb_naturals", 1, 3),
        ("rob_multiplier", 1, 16),
        ("blind_multiplier", 1, 16),
        ("raise_multiplier", 1, 16),
        ("show_before_deal", 0, 16),
        ("show_at_6", 0, 16),
        ("show_at_12", 0, 16),
        ("show_after_bottom", 0, 16),
    ):
        for value in (low, high):
            assert getattr(RuleSet(**{field: value}), field) == value
        for value in (low - 1, high + 1):
            refused(lambda f=field, v=value: RuleSet(**{f: v}), field, str(value))


def test_rule_fields_that_belong_together():
    for first, second in ((1, 2), (1, 16), (15, 16)):
        room = PRESETS["happy"].replace(show_cards_1=first, show_cards_2=second)
        assert (room.show_cards_1, room.show_cards_2) == (first, second)
    for first, second in ((6, 6), (12, 6), (0, 5), (5, 17)):
        changes = {"show_cards_1": first, "show_cards_2": second}
        refused(lambda c=changes: PRESETS["happy"].replace(**c), "show_cards_")
    for auction in ("none", "points", "blind"):
        refused(lambda a=auction: PRESETS["happy"].replace(auction=a), "rob", auction)


def test_unknown_rules():
    refused(lambda: PRESETS["play_only"].replace(springs=3), "springs", "spring")
    with pytest.raises(dataclasses.FrozenInstanceError):
        PRESETS["play_only"].spring = True  # type: ignore[misc]
    with pytest.raises(TypeError):
        PRESETS["new"] = RuleSet()  # type: ignore[index]


BAD_ACTIONS = [
    ("no play", PlayError, ["no play"]),
    ("34", PlayError, ["34"]),
    ("", PlayError, ["''"]),
    (-1, PlayError, ["-1"]),
    (30, PlayError, ["30"]),
    (10**6, PlayError, ["1000000"]),
    (1.0, PlayError, ["1.0"]),
    (None, PlayError, ["None"]),
    ([64], PlayError, ["64"]),
    ("pass", IllegalActionError, ["pass", "lead"]),
    ("call_1", IllegalActionError, ["call_1", "play"]),
    ("wait", IllegalActionError, ["wait", "play"]),
    ("XD", IllegalActionError, ["XD", "0 of X"]),
    ("33334444", PlayError, ["33334444"]),
    ("777+8", IllegalActionError, ["777+8", "1 of 7"]),
    ("666777+XD", IllegalActionError, ["666777+XD", "kickers"]),
]


@pytest.mark.parametrize(("action", "error", "words"), BAD_ACTIONS)
def test_actions(action, error, words):
    game = Game(deal={"hands": [*HANDS[:2], "XD" + HANDS[2][2:]], "bottom": "JJ2"})
    before = game.to_bytes()
    refused(lambda: game.step(action), *words)
    with pytest.raises(error):
        game.step(action)
    assert game.to_bytes() == before


def test_why_an_answer_is_refused():
    game = Game(deal={"hands": HANDS, "bottom": "2XD"})
    game.step("44")
    for play, words in (
        ("77+8", ["77+8"]),
        ("7", ["solo", "pair"]),
        ("777+8", ["trio_with_solo", "pair"]),
        ("33", ["0 of 3"]),
        ("XD", ["0 of X"]),
        ("77788899", ["77788899"]),
    ):
        before = game.to_bytes()
        refused(lambda play=play: game.step(play), *words)
        assert game.to_bytes() == before
    game.step("77")
    game.step("JJ")
    game.step("XD")
    refused(lambda: game.step("8888"), "rocket")
    game.step("pass")
    refused(lambda: game.step("AAAA"), "rocket")
    game.step("pass")
    refused(lambda: game.step("pass"), "lead")


def test_calls():
    game = Game("qq_classic", seed=1)
    game.step("call_2")
    before = game.to_bytes()
    for choice in ("call_2", "call_1", "3", "rob", "call", 2):
        refused(lambda choice=choice: game.step(choice), "call_points", "call_3")
    assert game.to_bytes() == before
    game.step(3)
    assert game.landlord is not None


CHOICES = ("call_1", "call", "rob", "show", "blind", "look", "double", "raise", "wait", "pass", "3")
LEGAL = {  # in the order in which a deal comes to the phases
    "qq_classic": {"call_points": ("pass", "call_1", "call_2", "call_3")},
    "happy": {
        "show_before_deal": ("pass", "show"),
        "show_at_6": ("pass", "show"),
        "show_at_12": ("pass", "show"),
        "call": ("pass", "call"),
        "rob": ("pass", "rob"),
        "show_after_bottom": ("pass", "show"),
        "double": ("pass", "double"),
    },
    "happy_blind": {
        "blind": ("blind", "look"),
        "call": ("pass", "call"),
        "show_after_bottom": ("pass", "show"),
        "raise": ("pass", "raise"),
    },
}


@pytest.mark.parametrize(("room", "phase"), [(r, p) for r in LEGAL for p in LEGAL[r]])
def test_choices_that_are_not_of_the_phase(room, phase):
    """By name and by id, in the game and in a batch; the phase and its choices are named."""
    game, batch = Game(room, seed=2), vec_env(2, room, seed=4)
    while game.phase != phase:
        game.step({"call": "call", "blind": "look"}.get(game.phase, "pass"))
    batch.load(0, game)
    batch.load(1, game)
    before, rows = game.to_bytes(), batch.states.tobytes()
    legal = LEGAL[room][phase]
    assert tuple(game.legal()) == legal
    for text in CHOICES:
        if text in legal:
            continue
        number = game.action_id(text)
        refused(lambda t=text: game.step(t), text, phase, *legal)
        refused(lambda t=text: game.check(t), text, phase)
        refused(lambda n=number: game.step(n), text, phase)
        actions = np.array([game.action_id(legal[1]), number])
        refused(lambda a=actions: batch.step(a), "row 1", text, phase)
    assert game.to_bytes() == before and batch.states.tobytes() == rows


@pytest.mark.parametrize("phase", ["show_before_deal", "double"])
def test_parallel_choices_at_once_are_checked_before_any_counts(phase):
    environment = parallel_env("happy")
    environment.reset(seed=1)
    while environment.game.phase != phase:
        asked = [f"player_{seat}" for seat in environment.game.asked]
        choice = 4 if environment.game.phase == "call" else 0
        environment.step(
            {f"player_{s}": choice if f"player_{s}" in asked else 25 for s in range(3)}
        )
    before = environment.game.to_bytes()
    yes = {"show_before_deal": 6, "double": 9}[phase]
    for seat in range(3):
        for bad in (25, 64, 4, -1, 10**6, None):
            actions = {f"player_{s}": bad if s == seat else yes for s in range(3)}
            refused(lambda a=actions: environment.step(a), f"player_{seat}")
            assert environment.game.to_bytes() == before
    environment.step({f"player_{s}": yes for s in range(3)})
    marks = environment.game.state[{"show_before_deal": "shows", "double": "doubles"}[phase]]
    assert (marks == 1).all()


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([64, 25, 64], ["row 1", "wait"]),
        ([64, 64, -1], ["row 2", "-1"]),
        ([10**9, 64, 64], ["row 0", "1000000000"]),
        ([30, 64, 64], ["row 0", "30"]),
        ([64, 64, 0], ["row 2", "pass"]),
        ([64, 64], ["3", "2"]),
        ([[64, 64, 64]], ["3"]),
        ([64.0, 64.0, 64.0], ["float64"]),
        (["3", "3", "3"], ["3"]),
        (None, ["3"]),
    ],
)
def test_batches(actions, words):
    batch = vec_env(3, seed=1)
    for row in range(3):
        game = Game(deal={"hands": HANDS, "bottom": "2XD"})
        batch.load(row, game)
    before = batch.states.tobytes()
    refused(lambda: batch.step(actions), *words)
    assert batch.states.tobytes() == before
    assert not batch.done.any()
    batch.step(np.array([64, 64, 64]))
    assert (batch.states["n_history"] == 1).all()


def test_bytes():
    game = Game("qq_classic", seed=3)
    game.step("call_1")
    data = game.to_bytes()
    for bad in (b"", b"ddz", data[:-1], data + b"\0", b"x" + data, data.replace(b"qq_", b"zz_")):
        refused(lambda bad=bad: Game.from_bytes(bad))
    refused(lambda: Game.from_bytes(data, "play_only"), "qq_classic", "play_only")
    refused(lambda: Game.from_bytes("text"), "game")
    with pytest.raises(FormatError):
        Game.from_bytes(data[:-1])
    with pytest.raises(RuleError):
        Game.from_bytes(data, "mahjong")
    assert Game.from_bytes(data).to_bytes() == data


ODD = [np.array([1, 2]), np.array([]), 1.0, np.float64(1), np.bool_(True), True, "1", -1, 3, 10**30]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_what_is_no_seat(value):
    """One line that names it, never a crash: kernels don't look at what they are given."""
    game = Game()
    for call in (
        lambda: game.view(value),
        lambda: Game(first=value),
        lambda: game.next_unshuffled(1, value),
        lambda: env().reset(options={"first": value}),
        lambda: Game.from_position(["3", "4", "5"], turn=value),
        lambda: Game.from_position(["3", "4", "5"], landlord=value),
    ):
        refused(call)
    for call in (lambda: game.view(np.int8(1)), lambda: Game(first=np.int64(2))):
        call()


@pytest.mark.parametrize(
    "value", [[0.9], [-1], [9], 5, ["x"], [True, False, True], [[0]], [[1], [1, 2]], None, "row"]
)
def test_rows_of_a_batch(value):
    batch = vec_env(3, seed=1)
    if value is not None:  # all rows
        refused(lambda: batch.views(value), "rows")
    if not isinstance(value, int):
        refused(lambda: batch.snapshot(value), "row")
        refused(lambda: batch.load(value, Game()), "row")
    assert len(batch.views(np.array([2, 0], np.int8))) == 2


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "2", None, 10**12, 10**30, np.array([1, 2])])
def test_numbers_of_games(value):
    refused(lambda: vec_env(value), "num_envs")
    refused(lambda: SeatVectorEnv(value), "num_envs")
    assert vec_env(np.int64(2)).num_envs == SeatVectorEnv(np.int64(2)).num_envs == 2


@pytest.mark.parametrize("value", ["no", 1, None, [1], float("nan")])
def test_flags(value):
    for make in (env, parallel_env):
        refused(lambda make=make: make(legal_infos=value), "legal_infos")
    refused(lambda: vec_env(2, autoreset=value), "autoreset")
    refused(lambda: SeatVectorEnv(2, copy=value), "copy")


def test_odds_and_ends():
    """Each once gave an error of another library, or none at all."""
    batch, position = vec_env(2, seed=1), ["3", "4", "5"]
    refused(lambda: Game(deal=[[1], [1, 2]]), "deal")
    refused(lambda: vec_env(2, seed=np.array(True)), "seed")
    refused(lambda: batch.reset(True), "seed")
    refused(lambda: batch.step([[1], [1, 2]]), "actions")
    refused(lambda: batch.load(0, "x"), "game", "str")
    refused(lambda: SeatVectorEnv(2, render_mode=np.array([1, 2])), "render_mode")
    for value in (np.array(["3", "4"]), np.array([]), 0, False, [], "pass", 7):
        refused(lambda value=value: Game.from_position(position, last=value))
    for value in (0, False, {}, [], set(), np.array([])):
        refused(lambda value=value: Game.from_position(position, bottom=value), "bottom")
    assert Game.from_position(position, base=np.int64(2)).base == 2
    refused(lambda: Game("qq_classic").step(True), "True")
    refused(lambda: raw_env().observe("player_0"), "reset")
    refused(lambda: raw_env().step(0), "no deal")
    refused(lambda: parallel_env().step({}), "no deal")
    refused(lambda: env().reset(options={"options": object()}), "options")
    environment = raw_env()
    environment.reset(seed=1)
    refused(lambda: environment.observe("x"), "player_0", "x")
    other = PRESETS["play_only"].replace(spring=True)
    refused(lambda: environment.reset(options={"game": Game(other)}), "spring")
    refused(lambda: batch.load(0, Game(other)), "spring")
    long = "x" * 10_000
    for call in (lambda: Game(seed=long), lambda: env(reward=long), lambda: Game(first=long)):
        with pytest.raises(DdzError) as error:
            call()
        assert len(str(error.value)) < 200
