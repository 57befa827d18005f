"""A person at the table: questions and answers, take-back, hints, leaving, replays."""

import random
import re

import numpy as np
import pytest
from typed_hands import taken

from ddz_env import DdzError, Game, Room, Table, read_replays
from ddz_env.bots import make_bot
from ddz_env.cards import to_text
from ddz_env.play import Advice, Session, adviser_of
from ddz_env.play import command as play_command
from ddz_env.play.phrases import CATEGORIES, HELP, PHRASES, say
from ddz_env.play.screen import help_lines, plain, prompt_lines, table_lines
from ddz_env.render import cell_width
from ddz_env.rooms import load_rules

ROOMS = ("play_only", "qq_classic", "jj_classic", "happy", "happy_blind", "happy_laizi",
         "crazy_laizi", "laidou")  # fmt: skip
LANGS = ("en", "zh")


def sit(rules="play_only", seat=0, seed=1, lang="en", bot="greedy", **options):
    """A session that has begun."""
    players = [make_bot(bot), make_bot(bot)]
    table = options.pop("table", None) or Table(rules, seed=seed)
    adviser = options.pop("adviser", ("greedy", adviser_of(make_bot("greedy"))))
    session = Session(table, seat, players, [bot, bot], adviser=adviser, lang=lang, **options)
    session.begin()
    return session


def to_play(session):
    """Answer the questions before the play until cards are asked."""
    while session.prompt.kind == "choice":
        keys = [option.key for option in session.prompt.options]
        assert session.answer("y" if "y" in keys and session.game.phase == "call" else keys[-1])
    return session


def screen(session):
    return "\n".join(plain(line) for line in table_lines(session))


# ------------------------------------------------------------------------------------ the screen


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("rules", ROOMS)
def test_a_whole_deal(rules, lang):
    """Random answers to the end: each is taken as what it says, every line fits into 80 columns."""
    rng = random.Random(rules + lang)
    session = sit(rules, seat=rng.randrange(3), seed=5, lang=lang, bot="random", deals=1)
    asked = set()
    while not session.done:
        prompt, phase, game = session.prompt, session.game.phase, session.game
        asked.add(phase)
        lines = [*table_lines(session), *prompt_lines(session), *help_lines(session)]
        for line in map(plain, lines):
            assert cell_width(line) <= 80, line
        if prompt.kind == "next":
            break
        before = len(game.history)
        if prompt.kind == "cards":
            text = rng.choice(game.legal()[:30])
            answer = "p"
            if text != "pass":
                found = list(to_text(taken(game, text)))
                rng.shuffle(found)
                answer = "".join(found).replace("T", "10")
        else:
            answer = rng.choice(prompt.options).key
        reply = session.answer(answer)
        assert reply.kind != "refused", (answer, reply)
        if prompt.kind == "cards" and reply.kind == "moved" and answer == "p":
            assert session.game.history[before] == (session.seat, "pass")
    room = session.game.rules
    assert session.game.over and "play" in asked
    assert ("call_points" in asked) <= (room.auction == "points")
    assert sum(session.table.points) == 0 and session.played == 1


def test_what_the_table_shows():
    session = sit(seed=1)
    assert "landlord" in screen(session) and "bottom 36K" in screen(session)
    assert "your hand: 33 55 66 7 8 9 TT JJJ Q KK A 2 D (20 cards)" in screen(session)
    assert "17" in screen(session) and "multiplier x1" in screen(session)
    session.answer("33")
    assert "to beat: 55  pair (player_1)" in screen(session)
    assert "since then: player_1 55, player_2 pass" in screen(session)
    hidden = session.game.hands
    assert hidden[1] not in screen(session) and hidden[2] not in screen(session)


def test_what_is_said_in_chinese():
    session = sit("happy_laizi", seed=3, lang="zh", bot="random")
    assert "明牌开始" in session.prompt.text
    to_play(session)
    text = screen(session)
    assert all(word in text for word in ("手牌", "地主", "底牌", "倍数", "癞子 W = "))
    assert not re.search("[a-z]{3}", re.sub("random|happy_laizi", "", text))
    assert "癞子" in plain(help_lines(session)[2]) and len(HELP["zh"]) == len(HELP["en"])


@pytest.mark.parametrize("texts", PHRASES.values(), ids=PHRASES)
def test_both_languages_say_the_same(texts):
    english, chinese = texts
    names = [sorted(re.findall(r"{(\w+)", text)) for text in texts]
    assert english and chinese and names[0] == names[1]


def test_every_kind_of_play_has_a_chinese_name():
    assert len(set(CATEGORIES.values())) == len(CATEGORIES) == 14


# ------------------------------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("rules", "phase", "words"),
    [
        ("happy", "show_before_deal", {"y": "show 明牌", "n": "no 不明牌"}),
        ("happy", "call", {"y": "call 叫地主", "n": "pass 不叫"}),
        ("happy", "rob", {"y": "rob 抢地主", "n": "no 不抢"}),
        ("happy", "double", {"y": "double 加倍", "n": "no 不加倍"}),
        ("happy", "show_after_bottom", {"y": "show 明牌", "n": "no 不明牌"}),
        ("happy_blind", "blind", {"b": "blind 闷抓", "l": "look 看牌"}),
        ("happy_blind", "raise", {"y": "raise 倒", "n": "no 不加注"}),
        ("qq_classic", "call_points", {"1": "1 point 1分", "3": "3 points 3分", "n": "pass 不叫"}),
    ],
)
def test_choices_are_asked_in_both_languages(rules, phase, words):
    """And each is taken by its key, its English and its Chinese word."""
    for seed in range(60):
        session = sit(rules, seed=seed)
        while session.prompt.kind == "choice" and session.game.phase != phase:
            keys = [option.key for option in session.prompt.options]
            session.answer("y" if session.game.phase in ("call", "rob") else keys[-1])
        keys = {option.key for option in session.prompt.options}
        if session.game.phase == phase and keys >= set(words):
            break
    assert session.game.phase == phase
    shown = {option.key: " ".join(option.words) for option in session.prompt.options}
    assert words.items() <= shown.items()
    text = plain(prompt_lines(session)[-1])
    assert all(word in text for word in words.values())
    refused = session.answer("maybe")
    assert refused.kind == "refused" and "expected one of" in refused.lines[0]
    for option in session.prompt.options:
        for answer in (option.key, *option.words):
            assert session.answer(answer).kind == "moved", answer
            assert session.answer("u").kind == "moved"
            assert session.game.phase == phase


def test_which_of_several_plays_is_asked():
    room = load_rules("play_only", ["kicker_adjacent_trio=true"])
    table = Table(room, seed=1)
    session = sit(table=table)
    table.game = Game(room, deal={
        "hands": ["33344455566678999", "7778889TTTTJJJJQQ", "QQKKKKAAAA2222345"],
        "bottom": "6XD",
    })  # fmt: skip
    session.answer("444333555666")
    prompt = session.prompt
    assert prompt.kind == "which" and [o.key for o in prompt.options] == ["1", "2", "3", "4"]
    assert "444555666+333  airplane_with_solos" in prompt.head[1]
    assert session.answer("7").lines == ("'7': expected a number 1..4",)
    assert session.answer("4").kind == "told" and session.prompt.kind == "cards"
    session.answer("444333555666")
    session.answer("3")
    assert session.game.history[0] == (0, "333444555666")


def test_pass_only_where_it_is_legal():
    session = sit(seed=1)
    for typed in ("", "p", "pass", "不要"):
        assert session.answer(typed).lines == (say("must_lead", "en"),)
    session.answer("33")
    assert session.answer("").kind == "moved"
    assert session.game.history[3] == (0, "pass")


def test_bad_answers_change_nothing_and_say_what_was_expected():
    session = sit(seed=1)
    before = session.game.to_bytes()
    for typed in (
        "hello",
        "34",
        "XD",
        "333",
        "33 44",
        "99999",
        "*",
        "+",
        "33*",
        "call",
        "!",
    ):
        reply = session.answer(typed)
        assert reply.kind == "refused" and len(reply.lines) == 1, typed
        assert "expected" in reply.lines[0] and "\n" not in reply.lines[0]
    assert session.game.to_bytes() == before


# ------------------------------------------------------------------------------------- take-back


@pytest.mark.parametrize("rules", ["play_only", "happy", "happy_blind", "happy_laizi"])
def test_take_back(rules):
    """Every own decision, from the end of the deal to its beginning; the table with it."""
    session = sit(rules, seed=2, bot="random")
    states = []
    while not session.game.over:
        states.append((session.game.to_bytes(), list(session.table.beans), screen(session)))
        kinds = session.prompt.kind
        lead = session.game.legal()[0]
        answer = session.prompt.options[0].key if kinds == "choice" else "p"
        if kinds == "cards" and lead != "pass":
            answer = to_text(taken(session.game, lead))
        assert session.answer(answer).kind == "moved"
    assert session.played == 1 and len(states) > 3
    for state in reversed(states):
        assert session.answer("u").kind == "moved"
        assert (session.game.to_bytes(), session.table.beans, screen(session)) == state
    assert session.played == 0
    assert session.answer("u").lines == (say("no_back", "en"),)


def test_a_deal_that_was_taken_back_is_kept_once_and_as_it_was_played_then():
    kept = []
    session = sit(seed=1, deals=1, keep=lambda game, seat: kept.append(game))
    while session.prompt.kind == "cards":
        session.answer("p" if session.game.legal()[0] == "pass" else session.game.legal()[0])
    first = session.game.to_bytes()
    while session.answer("u").kind == "moved":
        pass
    while session.prompt.kind == "cards":
        session.answer("p" if session.game.legal()[0] == "pass" else session.game.legal()[-1])
    assert not kept and session.game.to_bytes() != first
    session.answer("")
    assert session.done and [game.to_bytes() for game in kept] == [session.game.to_bytes()]


def test_the_same_deal_again_from_the_next_seat():
    """Hands stay where they are, people go on with all they have; other cards after that."""
    kept, bots = [], [make_bot("greedy"), make_bot("trustee")]
    session = Session(
        Table("happy", seed=3), 2, bots, ["one", "two"],
        adviser=("greedy", adviser_of(make_bot("greedy"))),
        keep=lambda game, seat: kept.append((game.to_bytes(), seat)),
    )  # fmt: skip
    session.begin()
    dealt, asked = session.game.clone(), session.answer("r")
    assert asked.kind == "refused" and "not over" in asked.lines[0]
    for seat in (2, 0, 1):
        assert session.seat == seat
        assert session.names == {seat: "", (seat + 1) % 3: "one", (seat + 2) % 3: "two"}
        assert session.players == {(seat + 1) % 3: bots[0], (seat + 2) % 3: bots[1]}
        assert session.game.state["seed"] == dealt.state["seed"]
        session.end_of_input()
        session.done, session.players = (
            False,
            {k: v for k, v in session.players.items() if k != seat},
        )
        mine = session.table.beans[seat], session.table.points[seat]
        assert session.prompt.kind == "next" and ", r:" in session.prompt.text
        assert session.answer("r").kind == "moved"
        assert (session.table.beans[session.seat], session.table.points[session.seat]) == mine
    assert len(kept) == 6 and [seat for _, seat in kept[::2]] == [2, 0, 1]
    session.end_of_input()
    session.done = False
    session.answer("")
    assert session.game.state["seed"] != dealt.state["seed"]


def test_the_same_deal_again_is_one_more_deal():
    session = sit(seed=1, deals=2)
    session._auto()
    del session.players[0]
    assert session.answer("再来").kind == "moved" and session.seat == 1
    session._auto()
    assert session.played == 2 and ", r:" not in session.prompt.text
    assert session.answer("r").lines == ("'r': expected Enter, u or q",)


# ----------------------------------------------------------------------------------------- hints


def test_hints_of_a_bot_are_its_choice():
    session = sit(seed=1)
    views, legal = session._asked()
    choice = session.game.action_text(int(make_bot("greedy").act(views, legal)[0]))
    assert session.answer("h").lines == (f"greedy would choose: {choice}",)
    assert session.answer("提示").lines == session.answer("h").lines


def test_hints_with_values():
    asked = []

    def advise(views, legal):
        asked.append((views["seat"].tolist(), legal.ids.tolist()))
        ids = sorted(legal.ids, reverse=True)
        return [Advice(int(action), 0.75 - 0.01 * i, 1.5 - i) for i, action in enumerate(ids)]

    session = sit(seed=1, adviser=("model", advise))
    lines = session.answer("h").lines
    assert asked == [([0], session.game.legal_ids().tolist())]
    best = session.game.action_text(int(session.game.legal_ids().max()))
    assert lines[0] == "model: chance to win, points expected" and len(lines) == 9
    assert re.fullmatch(rf"  1  {re.escape(best)} +75.0% +\+1.50", lines[1])
    chinese = sit(seed=1, adviser=("model", advise), lang="zh").answer("h").lines
    assert chinese[0] == "model: 胜率, 期望得分" and chinese[1:] == lines[1:]


def test_hints_before_the_play_have_the_words_of_the_choice():
    session = sit("happy", seed=1)
    assert session.answer("h").lines == ("greedy would choose: no",)
    assert sit("happy", seed=1, lang="zh").answer("h").lines == ("greedy 会选: 不明牌",)


# --------------------------------------------------------------------------------------- leaving


def test_leaving_between_deals():
    session = sit(seed=1)
    session.end_of_input()
    assert session.done and session.game.over and session.played == 1


@pytest.mark.parametrize("rules", ["play_only", "happy", "laidou"])
def test_escape(rules):
    kept = []
    session = sit(rules, seed=1, keep=lambda game, seat: kept.append(game))
    session.answer("quit")
    line = next(text for text in session.prompt.head if "escape" in text)
    points, beans = map(int, re.search(r"pay (\d+) points, (\d+) beans", line).groups())
    number = line.split()[0]
    assert session.answer("x").lines == (f"'x': expected a number 1..{number}",)
    session.answer(number)
    assert session.done and not kept
    assert session.table.points[0] == -points and session.table.beans[0] == 10_000 - beans
    assert beans > 0


def test_auto_play_finishes_the_deal():
    kept = []
    session = sit(seed=1, keep=lambda game, seat: kept.append(game))
    session.answer("q")
    session.answer("2" if "stay" in session.prompt.head[1] else "3")
    assert session.done and session.game.over and len(kept) == 1
    assert sum(session.table.points) == 0 and session.table.points[0] != 0


def test_q_may_be_the_queen():
    """Where it can be played; a capital always is, and where it can't `q` only leaves."""
    session = sit(seed=1)
    session.answer("q")
    assert [o.value for o in session.prompt.options] == ["queen", "stay", "auto", "flee"]
    session.answer("1")
    assert session.game.history[0] == (0, "Q")
    session.answer("u")
    session.answer("Q")
    assert session.game.history[0] == (0, "Q")
    session.answer("q")
    assert "queen" not in [o.value for o in session.prompt.options]


# ---------------------------------------------------------------------------------- many deals


def test_points_and_titles_over_many_deals():
    session = sit("qq_classic", seed=1, deals=3)
    for deal in range(1, 4):
        assert f"deal {deal} " in screen(session)
        to_play(session)
        while session.prompt.kind != "next":
            session.answer("p" if session.game.legal()[0] == "pass" else session.game.legal()[0])
        text = screen(session)
        for seat in range(3):
            row = next(line for line in text.splitlines() if session.table.titles[seat].english in
                       line and f"player_{seat}" in line)  # fmt: skip
            assert f"{session.table.points[seat]:+g}" in row or session.table.points[seat] == 0
            assert str(session.table.beans[seat]) in row
        assert not session.done
        session.answer("" if deal < 3 else "q")
    assert session.done and session.played == 3 and session.table.deals == 3


class Broken:
    def act(self, views, legal):
        raise RuntimeError("out of order")


class Illegal:
    def act(self, views, legal):
        return np.array([9])


@pytest.mark.parametrize(("player", "word"), [(Broken(), "out of order"), (Illegal(), "legal")])
def test_a_player_that_fails_is_on_auto_play(player, word):
    session = sit(seed=1)
    session.players[1] = player
    session.answer("33")
    assert session.game.history[1][0] == 1
    assert word in screen(session) and "auto-play" in screen(session)


# ------------------------------------------------------------------------------------- arguments


def test_seats():
    assert [play_command.pick_seat(text, 1) for text in ("0", "1", "2")] == [0, 1, 2]
    drawn = {play_command.pick_seat("random", seed) for seed in range(20)}
    assert drawn == {0, 1, 2}
    with pytest.raises(DdzError, match="--seat"):
        play_command.pick_seat("3", 1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--rules", "mahjong"], ["mahjong", "play_only"]),
        (["--set", "spring"], ["--set", "field=value"]),
        (["--seat", "4"], ["--seat", "0, 1, 2"]),
        (["--seed", "-1"], ["seed"]),
        (["--seed", "x"], ["--seed", "'x'"]),
        (["--deals", "0"], ["--deals", "1.."]),
        (["--lang", "fr"], ["lang", "en, zh"]),
        (["--beans", "-1"], ["beans", "-1"]),
        (["--coefficient", "0"], ["coefficient", "0"]),
        (["nobody"], ["nobody", "greedy"]),
        (["greedy", "greedy", "greedy"], ["players", "3"]),
        (["--replays", "."], ["--replays", "folder"]),
        (["--replays", "README.md/x"], ["--replays", "README.md"]),
        (["--nothing"], ["--nothing"]),
    ],
)
def test_arguments_of_the_command(line, words, capsys, monkeypatch, tmp_path):
    """One line, code 2, nothing asked, nothing written."""
    (tmp_path / "README.md").write_text("kept")
    monkeypatch.chdir(tmp_path)
    try:
        code = play_command.main(line)
    except SystemExit as stop:
        code = stop.code
    shown = capsys.readouterr()
    assert code == 2 and shown.out == ""
    assert shown.err.startswith("ddz_env: ") and shown.err.count("\n") == 1
    assert all(word in shown.err for word in words), shown.err
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_replays(tmp_path, monkeypatch, capsys):
    """Each finished deal once, with who sat where; an input that ends is auto-play."""
    path = tmp_path / "games" / "mine.jsonl"
    line = ["random", "greedy", "--seat", "1", "--seed", "4", "--deals", "1"]
    for _ in range(2):
        monkeypatch.setattr("builtins.input", lambda _: (_ for _ in ()).throw(EOFError))
        assert play_command.main([*line, "--replays", str(path)]) == 0
    games = list(read_replays(path))
    assert [names for _, names in games] == [["greedy", "human", "random"]] * 2
    assert games[0][0].over and games[0][0].to_bytes() == games[1][0].to_bytes()
    assert "auto-play" in capsys.readouterr().out


def test_room_of_the_table():
    table = Table("qq_classic", Room(coefficient=100, fee=5, beans=2000), 1)
    session = sit(table=table, deals=1)
    session.end_of_input()
    assert sum(table.beans) == 6000 - 15
