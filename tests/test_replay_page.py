"""`eval/replay.py`: the terminal, the page, files that are refused, what a browser makes of it."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from kept_games import played, write
from rich.cells import cell_len

import agents
from ddz_env import PRESETS, Game
from ddz_env.replay import from_line, to_line
from ddz_env.words import player, word
from eval import replay

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium here")
ODD = "</script><b>&\"'{lang}"
"""A name that must stay a text."""


BEFORE = (
    "pass", "call_1", "call_2", "call_3", "call", "rob", "show", "look", "blind", "double", "raise",
)  # fmt: skip
"""Choices before the play."""


@pytest.fixture(scope="module")
def games():
    """A deal of each room, a deal with redeals, one broken off, one of play_only at the end."""
    found = [played(room, 3, calls=True) for room in PRESETS]
    redealt = Game("qq_classic", seed=3, first=1)
    for _ in range(3):
        redealt.step("pass")
    redealt.step("call_3")
    broken = Game("play_only", seed=9)
    broken.step(broken.legal()[0])
    return [*found, redealt, broken, played("play_only", 4)]


@pytest.fixture(scope="module")
def file(games, tmp_path_factory):
    return write(tmp_path_factory.mktemp("games") / "games.jsonl", games, ("anna", ODD, "greedy"))


@pytest.fixture(scope="module")
def page(file):
    """The page of all deals, with values where weights ship."""
    out = file.with_name("page.html")
    assert replay.main([str(file), "--html", str(out)]) == 0
    return out


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))


# ---------------------------------------------------------------------------------- terminal


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_terminal_shows_a_deal(lang, file, games, capsys, monkeypatch):
    """Hands, bottom cards, what was said, every play in its order, the score; in 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    for number, game in enumerate(games, 1):
        assert replay.main([str(file), "--number", str(number), "--lang", lang]) == 0
        text = capsys.readouterr().out
        lines = text.splitlines()
        assert max(map(cell_len, lines)) <= 80
        assert f"{number}/{len(games)}" in lines[0] and game.rules.name in lines[0]
        assert word("bottom", lang) in text
        plays = re.findall(r"^ *(\d+) +(\S+) +(\S+) +(\d+)", text, re.MULTILINE)
        texts = [text for _, text in game.history]
        first = next((i for i, text in enumerate(texts) if text not in BEFORE), len(texts))
        wanted = [
            (str(i), player(seat, lang), word(play, lang))
            for i, (seat, play) in enumerate(game.history, 1)
            if i > first
        ]
        assert [row[:3] for row in plays] == wanted
        if game.over:
            left = {seat: len(game.hands[seat]) for seat in range(3)}
            last = {row[1]: int(row[3]) for row in plays}
            for seat, n in left.items():
                assert last.get(player(seat, lang), n) == n
            for points in game.scores:
                assert f"{points:+g}" in text


def test_what_was_said_before_the_play(tmp_path, capsys):
    game = Game("qq_classic", seed=4, first=1)
    for choice in ("pass", "call_1", "call_2"):
        game.step(choice)
    assert replay.main([str(write(tmp_path / "x.jsonl", [game]))]) == 0
    shown = capsys.readouterr().out
    assert "call points: player_1 pass, player_2 call 1, player_0 call 2" in shown
    assert "broken off" in shown


def test_values_in_the_terminal(file, games, capsys):
    """Only when asked for; of the choices that have an alternative."""
    number = str(len(games))
    assert replay.main([str(file), "--number", number, "--agent", "dmc"]) == 0
    text = capsys.readouterr().out
    assert "preferred" in text and len(re.findall(r" [01]\.\d{3}\b", text)) > 10


# -------------------------------------------------------------------------------------- page


class Page(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_the_page_stands_alone(page):
    """No address but the name of SVG; nothing that fetches; a policy that forbids it."""
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"[a-z]+://[^\s\"'<>`]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp|import\(|\bsrc=", text)
    tags = Page(text).tags
    assert {tag for tag, _ in tags} <= {
        "html", "head", "meta", "link", "title", "style", "body", "noscript", "div", "script",
    }  # fmt: skip
    assert [a["href"] for _, a in tags if "href" in a] == ["data:,"]
    policies = [a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies and policies[0].startswith("default-src 'none'")
    assert text.startswith("<!doctype html>") and "width=device-width" in text


def has_weights(room):
    try:
        return bool(agents.load("dmc", room))
    except agents.AgentError:
        return False


def test_the_page_has_every_decision(page, games):
    data, rooms = data_of(page), [room for room in PRESETS.values() if has_weights(room)]
    assert len(data["deals"]) == data["total"] == len(games)
    assert 0 < len(rooms) < len(PRESETS)
    for deal, game in zip(data["deals"], games, strict=True):
        assert [(step["s"], step["t"]) for step in deal["steps"]] == game.history
        assert deal["agents"] == ["anna", ODD, "greedy"]
        assert deal["scores"] == (game.scores if game.over else None)
        assert int(deal["seed"]) == int(game.state["seed"])
        assert deal["valued"] == (game.rules in rooms)
        for step in deal["steps"]:
            assert ("v" in step) == deal["valued"]


def test_values_on_the_page(page, games):
    """Chances of the shipped weights; the landlord's is theirs, or the rest to 1."""
    deal = data_of(page)["deals"][-1]
    valued = [step for step in deal["steps"] if step["v"]]
    assert len(valued) > 10 and any(step["v"]["other"] for step in valued)
    for step in valued:
        value = step["v"]
        own, best = value["c"][value["made"]], value["c"][0]
        assert own[0] == step["t"] and own[1] <= best[1]
        for chance, side in zip((own[1], best[1]), value["lord"], strict=True):
            assert side == pytest.approx(chance if step["s"] == 0 else 1 - chance, abs=1e-4)


def test_a_page_without_values(file, tmp_path):
    out = tmp_path / "plain.html"
    assert replay.main([str(file), "--html", str(out), "--agent", "none", "--lang", "zh"]) == 0
    data = data_of(out)
    assert data["lang"] == "zh" and not any(deal["valued"] for deal in data["deals"])


def test_the_same_file_gives_the_same_page(file, page, tmp_path):
    out = tmp_path / "deep" / "again.html"
    for _ in range(2):
        assert replay.main([str(file), "--html", str(out)]) == 0
        assert out.read_bytes() == page.read_bytes()


def test_a_long_file_is_cut_and_says_so(tmp_path, capsys):
    game = Game("play_only", seed=1)
    game.step(game.legal()[0])
    path = write(tmp_path / "long.jsonl", [game] * (replay.MOST + 3))
    out = tmp_path / "page.html"
    assert replay.main([str(path), "--html", str(out), "--agent", "none"]) == 0
    assert f"{replay.MOST} of {replay.MOST + 3} deals" in capsys.readouterr().out
    data = data_of(out)
    assert len(data["deals"]) == replay.MOST and data["total"] == replay.MOST + 3
    line = [str(path), "--html", str(out), "--agent", "none", "--number", str(replay.MOST + 2)]
    assert replay.main(line) == 0
    data = data_of(out)
    assert len(data["deals"]) == 1 and data["first"] == replay.MOST + 2


# --------------------------------------------------------------------------------- bad input


def test_a_line_reads_back_to_the_same_bytes(file):
    for line in file.read_text(encoding="utf-8").splitlines():
        game, agents = from_line(line)
        assert to_line(game, agents) == line


def changed(**changes):
    return lambda line: json.dumps(json.loads(line) | changes)


def edited(line):
    """A play of a card that the hand doesn't hold."""
    data = json.loads(line)
    data["decisions"][0] = [0, 64, "3"] if data["decisions"][0][2] != "3" else [0, 65, "4"]
    return json.dumps(data)


@pytest.mark.parametrize("html", [False, True])
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda line: line[:-20], "line 2: replay: cut off"),
        (lambda line: line[: len(line) // 2], "line 2: replay: cut off"),
        (changed(version=2), "line 2: replay: version 2, this version reads 1"),
        (changed(format="other"), "not a ddz-replay"),
        (changed(scores=[2.0, -1.0, -1.5]), "scores: not those of the decisions"),
        (edited, "line 2: replay: "),
        (changed(agents=["a", "b"]), "agents: expected three texts"),
        (changed(number=2**70), "line 2: replay: "),
        (lambda line: "[" * 100_000, "line 2: replay: "),
        (lambda line: "", "line 2: replay: cut off"),
    ],
)
def test_files_that_are_refused(change, named, html, tmp_path, capsys):
    line = to_line(played("play_only", 5))
    path = tmp_path / "x.jsonl"
    path.write_text(f"{line}\n{change(line)}\n")
    out = tmp_path / "x.html"
    words = ["--html", str(out)] if html else ["--number", "2"]
    assert replay.main([str(path), *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("replay: ") and named in shown.err and str(path) in shown.err
    assert [p.name for p in tmp_path.iterdir()] == ["x.jsonl"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["none.jsonl"], "none.jsonl"),
        (["EMPTY"], "no deals"),
        (["FOLDER"], "FOLDER"),
        (["BYTES"], "BYTES"),
        (["GAMES", "--number", "0"], "--number"),
        (["GAMES", "--number", "99", "--html", "new.html"], "1..11"),
        (["GAMES", "--html", "TAKEN"], "no page of replays"),
        (["GAMES", "--html", "FOLDER"], "no page of replays"),
        (["GAMES", "--html", "TAKEN/x.html"], "is a file"),
        (["GAMES", "--html", "new.html", "--agent", "nobody"], "nobody"),
        (["GAMES", "--html", "new.html", "--agent", "greedy"], "gives no chances of winning"),
        (["GAMES", "--html", "new.html", "--agent", "dmc"], "no weights for room jj_classic"),
        (["GAMES", "--html", "new.html", "--agent", "dmc:none.pt"], "none.pt"),
    ],
)
def test_bad_arguments(words, named, file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "EMPTY").touch()
    (tmp_path / "BYTES").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "TAKEN").write_text("kept")
    before = sorted(tmp_path.rglob("*"))
    assert replay.main([word.replace("GAMES", str(file)) for word in words]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("replay: ") and named in shown.err
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "TAKEN").read_text() == "kept"


# -------------------------------------------------------------------------------- in a browser

OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync"
    " --disable-background-networking --disable-component-update --enable-logging=stderr"
    " --allow-file-access-from-files --virtual-time-budget=4000 --dump-dom"
).split()


def drive(page, home, width, script):
    """What a script in a frame around the page returns, and what was said on the console.

    `d` is the page's document, `press` presses a key there, `text` is what an element says,
    `choose` chooses a deal.
    """
    frame = home / "frame.html"
    home.mkdir()
    frame.write_text(
        f'<iframe id="f" width="{width}" height="900" src="{page.as_uri()}"></iframe>'
        '<p id="p"></p><script>f.onload = () => { const d = f.contentDocument;'
        "const press = (key) => d.body.dispatchEvent(new f.contentWindow.KeyboardEvent('keydown',"
        " { key, bubbles: true }));"
        "const text = (where) => d.querySelector(where).textContent;"
        "const all = (where) => [...d.querySelectorAll(where)];"
        "const choose = (k) => { const list = d.querySelector('#deal'); list.value = k;"
        " list.dispatchEvent(new Event('change')); };"
        f"p.textContent = JSON.stringify((() => {{ {script} }})()); }}</script>",
        encoding="utf-8",
    )
    line = [BROWSER, *OPTIONS, f"--user-data-dir={home / 'profile'}", frame.as_uri()]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    said = [row for row in done.stderr.splitlines() if "CONSOLE" in row]
    found = re.search(r'<p id="p">(.*?)</p>', done.stdout, re.DOTALL)
    assert found, (said, done.stdout[-500:])
    answer = found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(answer), said


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser(page, games, tmp_path, width):
    """Every deal, decision by decision: no word on the console, nothing wider than the screen."""
    script = """
      const w = d.documentElement, wide = new Set(), seen = [], torn = new Set();
      for (let k = 0; k < DEALS; k++) {
        choose(k);
        let steps = 0;
        for (;; steps++) {
          for (const e of all('#app *')) {
            const right = e.getBoundingClientRect().right;
            if (right > w.clientWidth + 1) wide.add(e.className || e.tagName);
          }
          for (const e of all('.tag')) if (e.getClientRects().length > 1) torn.add(e.textContent);
          for (const e of all('.values tbody td:first-child')) {
            if (/[+*] | [+*]/.test(e.textContent)) torn.add(e.textContent);
          }
          if (d.querySelector('#next').disabled) break;
          press('ArrowRight');
        }
        seen.push([steps, all('#all li').length, all('.hand').map(h => h.children.length)]);
      }
      return { seen, wide: [...wide], torn: [...torn], scroll: w.scrollWidth <= w.clientWidth,
        bold: all('header b').length, nameless: all('button, input, select, [role=img]').filter(
          e => !(e.getAttribute('aria-label') || e.textContent)).length };
    """.replace("DEALS", str(len(games)))
    found, said = drive(page, tmp_path / "home", width, script)
    assert said == [] and found["wide"] == [] and found["torn"] == [] and found["scroll"]
    assert found["nameless"] == 0 and found["bold"] == 0
    for (steps, listed, hands), game in zip(found["seen"], games, strict=True):
        assert steps == listed == len(game.history)
        assert hands == [len(hand) for hand in game.hands]


@needs_browser
def test_keys_lists_and_languages(page, games, tmp_path):
    script = """
      const place = () => text('#now b');
      const out = { other: all('#otherwise button').length };
      choose(DEAL);
      out.first = place(); press('ArrowLeft'); out.still = place();
      press('ArrowRight'); press('ArrowRight'); out.third = place();
      press('End'); out.end = text('#now'); out.svg = all('svg circle').length;
      press('Home'); out.home = place();
      const slider = d.querySelector('#slider'); slider.value = 4;
      slider.dispatchEvent(new Event('input')); out.fifth = place();
      out.others = all('#otherwise button').map(b => [Number(b.dataset.step), b.textContent]);
      d.querySelector('#otherwise button').click(); out.jumped = place();
      out.table = all('.values tbody tr').length;
      d.querySelector('#lang-zh').click(); out.zh = [d.documentElement.lang, text('h1'), place()];
      return out;
    """.replace("DEAL", str(len(games) - 1))
    found, said = drive(page, tmp_path / "home", 1280, script)
    assert said == []
    n = len(games[-1].history)
    assert found["first"] == found["still"] == found["home"] == f"1/{n}"
    assert found["third"] == f"3/{n}" and found["fifth"] == f"5/{n}"
    assert "went out" in found["end"]
    steps = data_of(page)["deals"][-1]["steps"]
    wanted = [i for i, step in enumerate(steps) if step["v"] and step["v"]["other"]]
    assert [i for i, _ in found["others"]] == wanted
    for i, text in found["others"]:
        value = steps[i]["v"]
        for choice in (value["c"][value["made"]], value["c"][0]):
            assert f"{100 * choice[1]:.1f}%" in text.replace("−", "-")
    assert found["svg"] == sum(step["v"] is not None for step in steps)
    assert found["jumped"] == f"{wanted[0] + 1}/{n}" and found["table"] >= 2
    assert found["zh"][0] == "zh" and found["zh"][1].startswith("牌局回放")


@needs_browser
def test_the_console_is_heard(tmp_path):
    """What the tests above rely on: an error on the console is seen."""
    broken = tmp_path / "broken.html"
    broken.write_text("<script>nowhere()</script>")
    _, said = drive(broken, tmp_path / "home", 400, "return 1;")
    assert "nowhere is not defined" in said[0]
