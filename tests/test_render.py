"""Screens, pictures and the window: what they show and hide, in every phase of every room."""

import random
import subprocess
import sys
import time

import numpy as np
import pytest
from test_leaks import AT_ONCE, DEALT, PHASES, ROOMS, places, swap_hands, swap_places, walk

from ddz_env import PRESETS, DdzError, Game
from ddz_env.render import RENDER_MODES, Window, ansi, rgb_array

for name in ("PIL", "font_source_sans_pro"):
    pytest.importorskip(name)
pygame = pytest.importorskip("pygame")

SHAPE = (640, 960, 3)
HEADS = {
    "en": ("seat", "role", "left", "hand", "last"),
    "zh": ("座位", "身份", "余牌", "手牌", "上一手"),
}
MISSING = """
import sys
for name in ("PIL", "pygame", "font_source_sans_pro"):
    sys.modules[name] = None
import ddz_env
from ddz_env.render import Window, ansi, rgb_array

game = ddz_env.Game("play_only", seed=1)
assert game.hands[0] in ansi(game)

def says(call):
    try:
        call()
    except ddz_env.DdzError as error:
        print(error)

says(lambda: rgb_array(game))
says(Window)
del sys.modules["PIL"]
says(lambda: rgb_array(game))
del sys.modules["font_source_sans_pro"]
print(rgb_array(game).shape)
"""


def columns(char):
    """The cells of a character of these screens: Chinese ones take two."""
    return 2 if ord(char) > 0x2E80 else 1


def width(line):
    return sum(map(columns, line))


def cells(line):
    """A line as a list of cells, the second of a wide character empty."""
    return [cell for char in line for cell in [char, ""][: columns(char)]]


def table(game, seat, lang):
    """The table of the seats, cut into columns where its heads begin."""
    lines = ansi(game, seat, lang).split("\n")
    top = next(i for i, line in enumerate(lines) if line.split() == [*HEADS[lang]])
    head = cells(lines[top])
    starts = [i for i, cell in enumerate(head) if cell not in ("", " ") and head[i - 1] == " "]
    assert len(starts) == 5
    rows = []
    for line in lines[top + 1 : top + 4]:
        row = cells(line)
        for start in starts:
            assert "".join(row[start - 1 : start]) in ("", " "), line
        cuts = zip(starts, [*starts[1:], None], strict=True)
        rows.append(["".join(row[a:b]).strip() for a, b in cuts])
    return rows


@pytest.mark.parametrize("room", ROOMS)
def test_screens_in_every_phase(room):
    """At most 80 columns and 24 lines, aligned in both languages, with what is known."""
    seen = set()
    for n, game in enumerate(walk(ROOMS[room], range(6))):
        seen.add(game.phase)
        for lang in ("en", "zh"):
            for seat in (None, n % 3):
                text = ansi(game, seat, lang)
                lines = text.split("\n")
                assert max(map(width, lines)) <= 80 and len(lines) <= 24
                assert str(game.multiplier) in text and game.rules.name in lines[0]
                rows = table(game, seat, lang)
                names = [row[0].split()[0] for row in rows]
                assert names == [("player_%d" if lang == "en" else "玩家%d") % s for s in range(3)]
                marked = [line.split()[1] for line in lines if line.startswith(">")]
                assert marked == ([] if game.over else [names[game.seat]])
    assert seen == PHASES[room]


@pytest.mark.parametrize("room", PRESETS)
def test_a_screen_says_hands_roles_and_last_decisions(room):
    words = {"pass", "hidden"}
    for game in walk(room, range(12)):
        everything = table(game, None, "en")
        for other in range(3):
            name, role, left, hand, last = everything[other]
            assert name == f"player_{other}"
            if game.phase not in DEALT:
                assert hand == game.hands[other] and left == str(len(hand))
            if game.landlord is None:
                assert role == ""
            else:
                roles = ("landlord", "landlord_down", "landlord_up")
                assert role == roles[(other - game.landlord) % 3]
            if last:
                assert (other, last) in game.history or game.phase in AT_ONCE or last in words
        plays = [(s, text) for s, text in game.history if text[0] in "3456789TJQKA2XD"]
        if plays:  # whose play stands has it in its row, unless he leads
            s, text = plays[-1]
            leads = game.phase == "play" and game.seat == s
            assert everything[s][4] == ("" if leads else text)
        for seat in range(3):
            view = game.view(seat)
            for other, row in enumerate(table(game, seat, "en")):
                visible = bool(view["hands"][other]) or view["counts"][other] == 0
                assert (row[3] != "hidden") == visible
                assert row[0] == f"player_{other}" + (" you" if other == seat else "")
                assert row[2] == str(view["counts"][other])


def test_screen_of_a_finished_deal():
    for game in walk("qq_classic", range(12)):
        text = ansi(game, 1)
        assert ("win" in text) == game.over
    for game in walk("happy", range(6)):
        if not game.over:
            continue
        side = "landlord wins" if game.winner == game.landlord else "farmers win"
        for seat in (None, 0, 2):
            lines = ansi(game, seat).split("\n")
            (place,) = (i for i, line in enumerate(lines) if line.startswith(side))
            scores = [line.split() for line in lines[place + 1 :]]
            assert scores == [[f"player_{s}", f"{v:+g}"] for s, v in enumerate(game.scores)]


def test_screen_of_one_known_deal():
    """Read by eye once: three plays into a deal whose cards are given."""
    hands = ["34456688JJJQQKAXD", "3345556799TTJKAA2", "346777899TTQQKA22"]
    game = Game("play_only", deal={"hands": hands, "bottom": "8K2"})
    for play in ("888+3", "pass", "pass", "JJJ+5"):
        game.step(play)
    assert ansi(game, 1).split("\n") == [
        "play_only  phase play",
        "base 1  multiplier 1  landlord player_0  bottom 8K2",
        "",
        "  seat         role          left hand                 last",
        "  player_0     landlord      12   hidden               JJJ+5",
        "> player_1 you landlord_down 17   3345556799TTJKAA2",
        "  player_2     landlord_up   17   hidden",
        "",
        "to beat         JJJ+5 of player_0",
        "unseen          3444666777899TTQQQQKKKAA222XD",
    ]


def test_screen_of_one_known_filling():
    """The same with wild cards: four sevens are declared, a second wild may stand in them."""
    game = Game("happy_laizi", seed=0)
    while game.phase != "play":
        game.step(game.legal()[-1] if game.phase in ("call", "double") else "pass")
    game.step(game.action_id("7777"))
    assert ansi(game, 2, "zh").split("\n") == [
        "happy_laizi  阶段 定癞子  癞子 K",
        "底分 1  倍数 1  地主 玩家2  底牌 382",
        "",
        "  座位         身份          余牌 手牌                 上一手",
        "  玩家0        地主下家      17   暗牌                 加倍",
        "  玩家1        地主上家      17   暗牌                 加倍",
        "> 玩家2 我     地主          20   34455777888TTJQA2DWW 加倍",
        "",
        "已报            7777*",
        "未见            33344556666789999TTJJJQQQAAA222XWW",
        "牌前            玩家0 加倍 x2",
        "                玩家1 加倍 x2",
        "                玩家2 叫地主, 加倍 x2",
    ]
    game.step("wild_as_7")
    assert table(game, 0, "zh")[2] == ["玩家2", "地主", "16", "暗牌", "777*7*"]
    assert "待压            777*7* 属 玩家2" in ansi(game, 0, "zh").split("\n")


def traces(game, seat, pictures):
    """All that a seat is shown."""
    texts = ansi(game, seat), ansi(game, seat, "zh")
    return texts, rgb_array(game, seat).tobytes() if pictures else b""


@pytest.mark.parametrize("room", ROOMS)
def test_hidden_cards_leave_no_trace(room):
    """Cards exchanged among places that a seat doesn't see leave its screen and picture as is."""
    rng = random.Random(7)
    checked = {}
    for game in walk(ROOMS[room], range(6)):
        for seat in range(3):
            if game.phase in ("play", "over"):
                other = swap_hands(rng, game, seat)
            else:
                hidden = places(game, seat)[1]
                other = swap_places(rng, game, hidden, hidden)
            if other is None:
                continue
            checked[game.phase] = checked.get(game.phase, 0) + 1
            pictures = checked[game.phase] <= 9
            assert traces(other, seat, pictures) == traces(game, seat, pictures)
            if game.phase not in DEALT:
                same = (other.hands, other.bottom) == (game.hands, game.bottom)
                assert (ansi(other) == ansi(game)) == same
    assert set(checked) | {"over"} == PHASES[room]  # at the end all hands may have been shown


@pytest.mark.parametrize("room", ROOMS)
def test_cards_in_sight_do_leave_a_trace(room):
    """A card that a seat sees, exchanged for one that it doesn't, changes screen and picture."""
    rng = random.Random(8)
    checked = {}
    for game in walk(ROOMS[room], range(12)):
        if game.phase in ("play", "over"):
            continue
        for seat in range(3):
            seen, hidden = places(game, seat)
            other = swap_places(rng, game, rng.sample(seen, min(1, len(seen))), hidden)
            if other is None:
                continue
            checked[game.phase] = checked.get(game.phase, 0) + 1
            assert ansi(other, seat) != ansi(game, seat)
            if checked[game.phase] <= 6:
                assert (rgb_array(other, seat) != rgb_array(game, seat)).any()
    phases = PHASES[room] - {"play", "over", "show_before_deal"}
    assert set(checked) >= (phases if ROOMS[room].auction != "blind" else set())


@pytest.mark.parametrize("phase", ["show_before_deal", "double"])
def test_choices_made_at_once_stay_hidden(phase):
    """No seat sees what another has chosen before all have; with all hands open it is shown."""
    for game in walk("happy", range(8)):
        if game.phase != phase or len(game.asked) < 2:
            continue
        yes, no = game.clone(), game.clone()
        yes.step(phase.partition("_")[0])
        no.step("pass")
        for seat in range(3):
            assert traces(yes, seat, True) == traces(no, seat, True)
        assert ansi(yes) != ansi(no)
        assert (rgb_array(yes) != rgb_array(no)).any()
        return
    pytest.fail("no deal came to this phase")


@pytest.mark.parametrize("room", ["happy_laizi", "laidou"])
def test_filling_is_shown_to_the_seat_that_fills(room):
    """A declared play is on its own screen and, as in the rules, on nobody else's."""
    found = 0
    for game in walk(room, range(60)):
        if game.phase != "play" or found >= 5:
            continue
        before = game.clone()
        for action in game.legal_ids():
            game = before.clone()
            game.step(int(action))
            if game.phase == "fill":
                break
        else:
            continue
        found += 1
        seat, text = game.seat, game.action_text(int(action))
        for own in (seat, None):
            assert "declared" in ansi(game, own) and "phase fill" in ansi(game, own)
            assert (rgb_array(game, own) != rgb_array(before, own)).any()
            line = next(n for n in ansi(game, own).split("\n") if n.startswith("declared"))
            assert line.split()[1].replace("*", "") == text
        for other in {0, 1, 2} - {seat}:
            assert traces(game, other, True) == traces(before, other, True)
    assert found == 5


@pytest.mark.parametrize("room", PRESETS)
def test_pictures_from_the_deal_to_the_end(room):
    frames = {}
    for n, game in enumerate(walk(room, [3])):
        if n % 4 and game.phase in ("play", "show_before_deal", "call_points"):
            continue
        for seat in (None, n % 3):
            frame = rgb_array(game, seat)
            assert frame.shape == SHAPE and frame.dtype == np.uint8
            assert (rgb_array(game, seat) == frame).all()
            frames[n, seat] = frame.tobytes()
    assert game.over and (n, None) in frames
    assert len(set(frames.values())) == len(frames)


def test_a_picture_belongs_to_its_caller():
    game = Game("play_only", seed=1)
    frame = rgb_array(game)
    first = frame.copy()
    frame[:] = 0
    assert (rgb_array(game) == first).all() and not (frame == first).all()
    assert (rgb_array(game.clone()) == first).all()


def test_backs_and_golden_cards():
    """Hidden hands are blue backs; a wild card is golden, and is so only where it is wild."""

    def blue(frame):
        frame = frame.astype(int)
        return int(((frame[..., 2] > 110) & (frame[..., 0] < 60)).sum())

    def golden(frame):
        red, green, low = np.moveaxis(frame[500:].astype(int), -1, 0)  # the hand at the bottom
        return int(((red > 235) & (green > 190) & (green < 240) & (low < 180)).sum())

    game = Game("play_only", seed=1)
    assert blue(rgb_array(game)) == 0
    assert all(blue(rgb_array(game, seat)) > 3000 for seat in range(3))
    blind = Game("happy_blind", seed=1)
    assert blue(rgb_array(blind, 0)[500:]) > 20_000 and blue(rgb_array(blind)[500:]) == 0
    with_wild = without = 0
    for game in walk("laidou", range(8)):
        if game.phase != "call_points":
            continue
        for seat in range(3):
            gold, n = golden(rgb_array(game, seat)), game.hands[seat].count("W")
            assert (gold > 300) == (n > 0), (gold, game.hands[seat])
            with_wild += n > 0
            without += n == 0
    assert min(with_wild, without) > 10


def test_void_deal_and_redeals():
    rules = PRESETS["happy"].replace(max_redeals=1, name="never called")
    game = Game(rules, seed=3)
    frames = []
    while not game.over:
        game.step("pass")
        frames.append(rgb_array(game, 0))
    assert "redeals 1" in ansi(game) and "void deal" in ansi(game)
    assert "流局" in ansi(game, 0, "zh")
    assert (frames[-1] != frames[-2]).any()


def test_rooms_of_any_name_and_size():
    """Names in wide letters, the largest multiplier, redeals: nothing runs out of the screen."""
    rules = PRESETS["happy_laizi"].replace(
        name="斗地主" * 30, start_multiplier=1000, rob_multiplier=16, first_caller="turned_card"
    )
    for game in walk(rules, range(3)):
        for lang in ("en", "zh"):
            assert max(map(width, ansi(game, None, lang).split("\n"))) <= 80
        if game.over:
            assert rgb_array(game).shape == SHAPE


def test_languages_and_fonts():
    from font_source_sans_pro import font_files_ttf

    game = Game("qq_classic", seed=1)
    light = font_files_ttf["SourceSansProLight"]
    assert (rgb_array(game, font=light) != rgb_array(game)).any()
    assert (rgb_array(game, lang="zh", font=light) != rgb_array(game, font=light)).any()
    with pytest.raises(DdzError, match=r"font=PATH"):
        rgb_array(game, lang="zh")
    with pytest.raises(DdzError, match=r"font: 'no\.ttf'"):
        rgb_array(game, font="no.ttf")


@pytest.mark.parametrize("show", [ansi, rgb_array])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 3}, "seat: expected 0..2 or None for all hands, got 3"),
        ({"seat": True}, "seat: .* got True"),
        ({"seat": "player_0"}, "seat: .* got 'player_0'"),
        ({"lang": "fr"}, "lang: expected one of en, zh, got 'fr'"),
    ],
)
def test_bad_arguments(show, arguments, message):
    with pytest.raises(DdzError, match=message):
        show(Game("play_only", seed=1), **arguments)


def test_without_the_extra():
    """Text works; for pictures one line says what to install, and which package is missing."""
    done = subprocess.run(
        [sys.executable, "-c", MISSING], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 4 and lines[3] == str(SHAPE)
    for line, name in zip(lines, ("PIL", "pygame", "font_source_sans_pro"), strict=False):
        assert "pip install 'ddz-env[render]'" in line and name in line


# ---------------------------------------------------------------------------------------- window


@pytest.fixture
def screen(monkeypatch):
    """No display: windows are drawn in memory."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


def pixels():
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


def test_a_window_shows_frames(screen):
    window = Window(fps=1000)
    game = Game("happy", seed=1)
    for _ in range(3):
        game.step(game.legal()[0])
        assert window.show(game) is None
        assert (pixels() == rgb_array(game)).all()
    assert window.show(game, 2) is None
    assert (pixels() == rgb_array(game, 2)).all()
    window.close()
    assert window.closed and not pygame.display.get_init()
    window.close()
    assert window.show(game) is None and not pygame.display.get_init()


def test_the_person_may_close_it(screen):
    window = Window(fps=1000)
    game = Game("play_only", seed=1)
    window.show(game)
    assert not window.closed
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(game)
    assert window.closed and not pygame.display.get_init()
    window.show(game)
    assert not pygame.display.get_init()
    again = Window(fps=1000)
    again.show(game)
    assert (pixels() == rgb_array(game)).all()
    again.close()


def test_one_window_survives_the_end_of_another(screen):
    one, two = Window(fps=1000), Window(fps=1000)
    games = [Game("play_only", seed=seed) for seed in range(2)]
    one.show(games[0])
    two.show(games[1])
    one.close()
    two.show(games[1])
    assert (pixels() == rgb_array(games[1])).all()
    two.close()


def test_frames_a_second(screen):
    window = Window(fps=10)
    game = Game("play_only", seed=1)
    window.show(game)
    start = time.perf_counter()
    for _ in range(4):
        window.show(game)
    assert 0.35 < time.perf_counter() - start
    window.close()


def test_without_a_display(monkeypatch):
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "no_such_driver")
    window = Window()
    with pytest.raises(DdzError, match="no window can be opened"):
        window.show(Game("play_only", seed=1))


def test_modes_are_those_of_gymnasium():
    assert set(RENDER_MODES) == {"ansi", "rgb_array", "human"}


@pytest.mark.bench
def test_a_frame_takes_less_than_60_milliseconds():
    times = []
    for game in walk("happy", range(3)):
        start = time.perf_counter()
        rgb_array(game)
        times.append(time.perf_counter() - start)
    assert np.mean(times) < 0.06
