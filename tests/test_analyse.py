"""One decision as a service: the model's values of a position, its defaults, JSON, errors."""

import json
import random
import time
from dataclasses import fields

import numpy as np
import pytest

import agents
import eval
from ddz_env import DdzError, Game
from ddz_env.cards import RANKS, count_cards, from_text, to_text
from ddz_env.listed import Legal
from ddz_env.rules import PRESETS
from eval.analyse import Analysis, Command, analyse, main
from eval.positions import position

LEAD = "333445566778899TJQKX"


class Numbers:
    """Values that depend on what the seat sees, in place of a network."""

    def ranked(self, views, legal):
        key = int(views[0]["unseen"]) % 1009 + int(views[0]["counts"].sum())
        found = [
            type("One", (), {"action": int(a), "chance": (key * int(a)) % 997 / 997, "points": 1.0})
            for a in legal.ids
        ]
        return [sorted(found, key=lambda one: -one.chance)]


NUMBERS = Numbers()


@pytest.mark.parametrize(
    ("hand", "options"),
    [
        (LEAD, {}),
        ("4567889", {"last": "33", "role": "landlord_up"}),
        ("4567889TTJJQQKA2X", {"last": "3", "role": "landlord_down", "seen": "3", "bottom": "347"}),
        ("TTA", {"seen": ["3344556677889JQKX", "3344", "5567"], "last": "7"}),
    ],
)
def test_values_are_those_of_the_agent(hand, options):
    found = eval.analyse(hand, **options)
    game = position(hand, **options)
    ids = game.legal_ids()
    views = np.array([game.view()])
    legal = Legal(np.array([0, len(ids)]), ids)
    (ranked,) = agents.load("dmc", PRESETS["play_only"]).ranked(views, legal)
    assert [(c.action, c.chance, c.points) for c in found.choices] == [tuple(r) for r in ranked]
    assert [c.play for c in found.choices] == [game.action_text(r.action) for r in ranked]
    assert {c.play for c in found.choices} == set(game.legal())
    assert found.agent == "dmc"


def test_the_call_of_the_issue():
    """By position: hand, seen, last, rules."""
    found = analyse(LEAD, "", None, "play_only", agent=NUMBERS)
    assert isinstance(found, Analysis) and found.role == "landlord"
    assert found.choices == eval.analyse(LEAD, "", None, "play_only", agent=NUMBERS).choices
    assert callable(eval.analyse) and eval.analyse.analyse is analyse


# -------------------------------------------------------------------------------------- position


def seen(game):
    """What a game says of a position: counts, unseen cards, played piles by seat."""
    view = game.view()
    return [int(n) for n in view["counts"]], int(view["unseen"]), [int(p) for p in view["played"]]


def test_what_may_be_left_out():
    """Nothing seen: others have played as many cards as the seat, or the play to beat."""
    counts, unseen, played = seen(position("4567889", role="landlord_up"))
    assert counts == [10, 7, 7] and count_cards(unseen) == 17
    assert [count_cards(pile) for pile in played] == [10, 10, 10]
    counts, _, played = seen(position("3344556677889TJQK", last="JJJ+A", role="landlord_down"))
    assert counts == [16, 17, 17] and played[0] == from_text("JJJA")
    counts, _, _ = seen(position("3", role="landlord"))
    assert counts == [1, 1, 1]
    assert seen(position(LEAD))[0] == [20, 17, 17]
    assert position(LEAD).seat == position(LEAD).landlord == 0


@pytest.mark.parametrize("role", ["landlord", "landlord_down", "landlord_up"])
@pytest.mark.parametrize("by", ["next", "previous", None])
def test_who_made_the_last_play(role, by):
    game = position("44556", last="3", last_by=by, role=role)
    mine = ("landlord", "landlord_down", "landlord_up").index(role)
    assert game.seat == mine and game.landlord == 0
    assert game.state["last_seat"] == (mine + (1 if by == "next" else 2)) % 3
    assert game.history[0] == (int(game.state["last_seat"]), "3")
    assert len(game.history) == (2 if by == "next" else 1)
    data = analyse("44556", last="3", last_by=by, role=role, agent=NUMBERS).to_dict()
    assert data["last"] == {"play": "3", "by": by or "previous"}


def test_seen_cards_are_not_unseen():
    pile = "333355556666777788889999TTTTJJJJ"
    game = position("44QKA", seen=pile + "XD2")
    view = game.view()
    assert int(view["unseen"]) == from_text("44QQQKKKAAA222")
    assert [int(n) for n in view["counts"]] == [5, 7, 7]
    game = position("44QKA", seen=pile + "XD2", left=[4, 10])
    assert [int(n) for n in game.view()["counts"]] == [5, 4, 10]


def test_three_piles_say_who_played_what():
    piles = ["3344556677889JQKX", "3344", "5567"]
    game = position("TTA", seen=piles, last="7", last_by="previous")
    assert [int(p) for p in game.view()["played"]] == [from_text(pile) for pile in piles]
    farmer = position("TTAA2", seen=["334455667788", "5567", "3344"], role="landlord_up")
    view = farmer.view()
    assert [int(view["played"][seat]) for seat in (2, 0, 1)] == [
        from_text("334455667788"), from_text("5567"), from_text("3344")
    ]  # fmt: skip


def test_bottom_cards_belong_to_the_landlord():
    game = position("3344556677889TJQK", role="landlord_down", bottom="2XD")
    assert game.bottom == "2XD" and set("2XD") <= set(game.hands[0])
    game = position("33445566", role="landlord_up", bottom="2XD", seen="2" + "7777888899TTJJQQKKAA")
    assert set("XD") <= set(game.hands[0])


@pytest.mark.parametrize("role", ["landlord", "landlord_down", "landlord_up"])
@pytest.mark.parametrize("hand", ["3", "2", "3X", "44556678", "X22AAKKQQJJTT99"])
@pytest.mark.parametrize("bottom", ["", "34D", "A2D", "344", "789"])
def test_bottom_cards_where_nothing_else_is_known(role, hand, bottom):
    """They were the landlord's: he holds them, or they have been played."""
    for last in (None, "33", "7"):
        game = position(hand, last=last, role=role, bottom=bottom)
        piles = [int(pile) for pile in game.state["played"]]
        his = from_text(game.hands[0]) + piles[0]
        low = from_text(bottom) if bottom else 0
        assert all(his >> 4 * rank & 15 >= low >> 4 * rank & 15 for rank in range(15))
        assert from_text(game.bottom or "3") == (low or from_text("3"))
        assert sum(map(len, game.hands)) + sum(map(count_cards, piles)) == 54


@pytest.mark.parametrize("rules", ["play_only", "happy_laizi", "laidou"])
def test_positions_of_real_deals(rules):
    """What the seat sees of cards is the same, given piles apart, or together with what is left."""
    rng, checked = random.Random(rules), 0
    for seed in range(6):
        game = Game(rules, seed=seed, first=0)
        while not game.over:
            if game.phase == "play":
                checked += 1
                _compare(game)
            legal = game.legal()
            called = {"call": legal[-1], "call_points": legal[-1], "play": rng.choice(legal)}
            game.step(called.get(game.phase, legal[0]))  # nobody shows his hand
    assert checked > 60


def _compare(game):
    view, seat, lord = game.view(), game.seat, game.landlord
    order = [(seat + k) % 3 for k in range(3)]
    piles = [to_text(int(view["played"][k])) for k in order]
    last, by = None, None
    if view["last_seat"] >= 0:
        last = next(text for who, text in reversed(game.history) if text != "pass")
        by = ("next", "previous")[(int(view["last_seat"]) - seat) % 3 - 1]
    wild = RANKS[int(view["wild"])] if game.rules.wild == "rank" else None
    role = ("landlord", "landlord_down", "landlord_up")[(seat - lord) % 3]
    options = {"last": last, "last_by": by, "rules": game.rules.name, "role": role, "wild": wild}
    hand, left = to_text(int(view["hand"])), [int(view["counts"][k]) for k in order[1:]]
    for seen, more in ((piles, {}), ("".join(piles), {"left": left})):
        found = position(hand, seen, **options, **more, bottom=game.bottom)
        other, turn = found.view(), found.seat
        assert other["unseen"] == view["unseen"] and other["hand"] == view["hand"]
        assert [other["counts"][(turn + k) % 3] for k in range(3)] == [len(hand), *left]
        assert other["last_action"] == view["last_action"]
        assert other["last_cards"] == view["last_cards"] and other["bottom"] == view["bottom"]
        assert found.legal_ids().tolist() == game.legal_ids().tolist()
        if more == {}:
            assert [other["played"][(turn + k) % 3] for k in range(3)] == [
                view["played"][k] for k in order
            ]


def test_only_what_the_seat_sees_counts():
    """The made-up hands of the others make no difference to the view."""
    game = position("4567889", role="landlord_up")
    other = Game.from_position(
        [game.hands[1] + game.hands[0][-3:], game.hands[0][:-3], game.hands[2]], turn=2,
        played=None,
    )  # fmt: skip
    assert int(other.view()["unseen"]) == int(game.view()["unseen"])


@pytest.mark.parametrize(
    ("rules", "wild", "hand", "best"),
    [
        ("happy_laizi", "7", "44556W", "445566*"),
        ("crazy_laizi", "T", "333W", "3333*"),
        ("laidou", None, "333W", "3333*"),
        ("laidou", "jokers", "333X", "3333*"),
    ],
)
def test_wild_cards(rules, wild, hand, best):
    found = analyse(hand, rules=rules, wild=wild, agent=NUMBERS)
    assert best in {choice.play for choice in found.choices}
    assert found.to_dict()["hand"] == "".join(sorted(hand, key="3456789TJQKA2XDW".index))
    assert sorted({c.action for c in found.choices}) == found.game.legal_ids().tolist()


# ------------------------------------------------------------------------------------------ JSON


def test_json(capsys):
    assert main(["--hand", "TTJ", "--last", "9", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    data = json.loads(out)
    assert list(data) == [
        "format", "agent", "rules", "role", "hand", "last", "left", "unseen", "choices"
    ]  # fmt: skip
    assert data["format"] == "ddz-analysis-1" and data["agent"] == "dmc"
    assert data["rules"] == "play_only" and data["role"] == "landlord" and data["hand"] == "TTJ"
    assert data["last"] == {"play": "9", "by": "previous"} and data["left"] == {"next": 1,
        "previous": 1}  # fmt: skip
    assert count_cards(from_text(data["unseen"])) == 2
    assert sorted(row["play"] for row in data["choices"]) == ["J", "T", "pass"]
    for row in data["choices"]:
        assert set(row) == {"play", "id", "chance", "points"}
        assert 0 <= row["chance"] <= 1 and isinstance(row["id"], int)
    chances = [row["chance"] for row in data["choices"]]
    assert chances == sorted(chances, reverse=True)
    found = analyse("TTJ", last="9")
    assert data == json.loads(json.dumps(found.to_dict()))


def test_table(capsys):
    assert main(["--hand", LEAD, "--top", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "dmc, play_only: landlord, leads; left: next 17 and previous 17"
    assert lines[1].split() == ["play", "chance", "points"] and len(lines) == 5
    best = analyse(LEAD).choices[0]
    assert lines[2].split() == [best.play, f"{best.chance:.3f}", f"{best.points:+.2f}"]


def test_options_of_the_command(capsys):
    line = ["--hand", "TTA", "--seen", "334455667788JQKX9,77899,33445", "--last", "77"]
    assert main([*line, "--last-by", "next", "--left", "12,12", "--base", "2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["last"] == {"play": "77", "by": "next"}
    assert data["left"] == {"next": 12, "previous": 12}
    once = analyse("TTA", ["334455667788JQKX9", "77899", "33445"], "77", last_by="next")
    chances = {c.play: c.chance for c in once.choices}
    assert {row["play"] for row in data["choices"]} == set(chances)


# ---------------------------------------------------------------------------------------- errors

BAD = [
    ({"hand": "33333"}, ["hand", "'3'"]),
    ({"hand": ""}, ["hand", "at least one card"]),
    ({"hand": "34W"}, ["hand", "'W'"]),
    ({"hand": "334455667788999TTJ", "role": "landlord_down"}, ["hand", "18 cards", "17"]),
    ({"hand": "345", "last": "34"}, ["last", "34"]),
    ({"hand": "345", "last": "pass"}, ["last", "pass"]),
    ({"hand": "344", "last": "4444"}, ["last", "'4'"]),
    ({"hand": "345", "role": "farmer"}, ["role", "landlord_down", "farmer"]),
    ({"hand": "345", "last": "3", "last_by": "north"}, ["last_by", "next or previous"]),
    ({"hand": "345", "last_by": "next"}, ["last_by", "without a play"]),
    ({"hand": "345", "left": [1]}, ["left", "two numbers"]),
    ({"hand": "345", "left": "17"}, ["left", "two numbers"]),
    ({"hand": "345", "left": [0, 3]}, ["left", "1..17", "next"]),
    ({"hand": "345", "left": [3, 18]}, ["left", "1..17", "previous"]),
    ({"hand": "345", "last": "77", "left": [17, 16]}, ["left", "16 cards", "15 at most"]),
    ({"hand": "345", "seen": "5"}, ["seen", "1 cards", "17"]),
    ({"hand": "345", "seen": "Z"}, ["seen", "'Z'"]),
    ({"hand": "345", "seen": 5}, ["seen", "5"]),
    ({"hand": "345", "seen": ["3", "4"]}, ["seen", "three"]),
    ({"hand": LEAD, "seen": "3333"}, ["seen", "'3'"]),
    ({"hand": LEAD, "seen": "44", "last": "TT"}, ["seen", "TT"]),
    ({"hand": LEAD, "seen": "4", "left": [17, 17]}, ["seen", "1 cards", "expected 0"]),
    ({"hand": LEAD, "bottom": "34"}, ["bottom", "34"]),
    ({"hand": LEAD, "bottom": "2AD"}, ["bottom", "A2D", "the landlord's hand"]),
    ({"hand": "3XD", "bottom": "2XD", "role": "landlord_up"}, ["bottom", "'X'"]),
    ({"hand": "345", "base": 4}, ["base", "1..3"]),
    ({"hand": "345", "wild": "7"}, ["wild", "'7'"]),
    ({"hand": "345", "rules": "mahjong"}, ["mahjong", "play_only"]),
    ({"hand": "345", "rules": "happy_laizi"}, ["wild", "a rank"]),
    ({"hand": "345", "rules": "happy_laizi", "wild": "3"}, ["hand", "written W"]),
    ({"hand": "345", "agent": "greedy"}, ["greedy", "gives no values"]),
    ({"hand": "345", "agent": "nobody"}, ["nobody"]),
    ({"hand": "345", "rules": "jj_classic", "agent": "dmc:no/such.pt"}, ["no/such.pt"]),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_errors(options, words):
    with pytest.raises(DdzError) as error:
        analyse(**({"agent": NUMBERS} | options))
    text = str(error.value)
    assert isinstance(error.value, ValueError) and "\n" not in text
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--hand", "34Z"], ["hand", "'Z'"]),
        (["--hand", "345", "--left", "x"], ["left", "'x'"]),
        (["--hand", "345", "--left", "1"], ["left", "[1]"]),
        (["--hand", "345", "--top", "0"], ["--top"]),
        (["--hand", "345", "--rules", "no.toml"], ["no.toml"]),
        (["--hand", "345", "--set", "spring"], ["--set"]),
        (["--hand", "345", "--agent", "greedy"], ["greedy"]),
        (["--hand", "345", "--set", "auction=points"], ["dmc", "weights"]),
        (["--hand", "345", "--json", "--role", "farmer"], ["role"]),
    ],
)
def test_errors_of_the_command(line, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(line) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("analyse: ") and shown.err.count("\n") == 1
    assert all(word in shown.err for word in words), shown.err
    assert not list(tmp_path.iterdir())


def test_every_option_is_explained():
    options = {f.name for f in fields(Command)}
    assert options - {"set", "top", "json"} <= set(
        (analyse.__doc__ or "").replace(":", " ").split()
    )


def test_warm_calls_cost_what_the_agent_costs():
    """The first call loads; a later one takes little more than the network's own time."""
    analyse(LEAD)
    game = position(LEAD)
    model = agents.load("dmc", PRESETS["play_only"])
    ids = game.legal_ids()
    views, legal = np.array([game.view()]), Legal(np.array([0, len(ids)]), ids)

    def seconds(call):
        times = []
        for _ in range(15):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        return sorted(times)[len(times) // 2]

    alone, whole = seconds(lambda: model.ranked(views, legal)), seconds(lambda: analyse(LEAD))
    print(f"network {alone * 1e3:.2f} ms, analyse {whole * 1e3:.2f} ms, {len(ids)} plays")
    assert whole < 20 * alone
