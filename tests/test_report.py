"""The report of a tournament: what it says, that it stands alone, what a browser makes of it."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import torch
from checkpoints import save_fresh

from eval import report, tournament
from eval.report_figures import against, draw_run, runs, short_names

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium")
VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}
DEALS = 30


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Three checkpoints of one run, and one of another."""
    root = tmp_path_factory.mktemp("runs")
    specs = []
    for i, (run, minutes) in enumerate([("x", 1), ("x", 30), ("x", 3), ("y", 2)]):
        torch.manual_seed(i)
        more = {"elapsed": 60.0 * minutes, "counts": {"decisions": 1000 * minutes}}
        path = save_fresh(root / run / f"{i}.pt", **more)
        specs.append(f"dmc:{path}")
    return specs


@pytest.fixture(scope="module")
def folders(tmp_path_factory, checkpoints):
    """Tournaments of all kinds, by name."""
    root = tmp_path_factory.mktemp("results")
    plans = {
        "plain": ["greedy", "random", "faulty_agents:Raises", "trustee"],
        "calling": ["greedy", "random", "rlcard_rule", "--rules", "happy"],
        "two": ["greedy", "random:seed=4"],
        "gauntlet": ["random", "greedy", "trustee", "--schedule", "gauntlet"],
        "void": ["trustee", "greedy", "--rules", "qq_classic", "--set", "max_redeals=0"],
        "curve": [*checkpoints, "greedy", "random"],
    }
    made = {}
    for name, words in plans.items():
        out = root / name
        line = [*words, "--deals", str(DEALS), "--processes", "0", "--out", str(out)]
        assert tournament.main(line) == 0
        assert report.main([str(out)]) == 0
        made[name] = out
    return made


NAMES = ["plain", "calling", "two", "gauntlet", "void", "curve"]


class Page(HTMLParser):
    """A page's elements; every one must be closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style",):
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts).replace("−", "-")


def page_of(folder):
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def data_of(folder):
    return json.loads((folder / "results.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_the_page_stands_alone(folders, name):
    """Well-formed, no script, nothing fetched from anywhere."""
    page = page_of(folders[name])
    assert not {"script", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        for key in ("src", "href", "xlink:href", "data", "action"):
            value = attributes.get(key) or "#"
            assert value.startswith("#") or (tag, value) == ("link", "data:,"), (tag, value)
    text = (folders[name] / "report.html").read_text(encoding="utf-8")
    assert "url(" not in text.replace("url(#", "") and "@import" not in text
    assert "width=device-width" in text and text.startswith("<!doctype html>")


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_or_used_alike(folders, name):
    """Drawings in one page don't take each other's parts for their own."""
    page = page_of(folders[name])
    ids = [attributes["id"] for tag, attributes in page.tags if tag == "clipPath"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_says_what_the_results_say(folders, name):
    data, text = data_of(folders[name]), page_of(folders[name]).text
    names = short_names(data["agents"])
    for row in data["pairings"]:
        assert names[row["a"]] in text and names[row["b"]] in text
        low, high = row["ci"]
        assert f"{row['wp']:.3f}{low:.3f} … {high:.3f}" in text
        if data["measure"] == "score":
            low, high = row["score_ci"]
            assert f"{row['score']:+.2f}{low:+.2f} … {high:+.2f}" in text
    for row in data["ratings"]["agents"]:
        low, high = row["ci"]
        assert f"{row['rating']:+.0f}{low:+.0f} … {high:+.0f}" in text
    for fact in (data["command"], data["deals_hash"], data["rules_hash"], "seed 0"):
        assert fact in text
    assert "fewer than 100 deals" in text


def test_faults_and_void_deals_are_shown(folders):
    text = page_of(folders["plain"]).text
    assert "RuntimeError: boom" in text and re.search(r"\d raised", text)
    void = data_of(folders["void"])["pairings"][0]["void"]
    assert void > 0 and f">{void}<" in (folders["void"] / "report.html").read_text()


def test_the_heat_map_of_pairings(folders):
    """Every ordered pair once, mirrored; the diagonal is empty; better is better coloured."""
    text = (folders["plain"] / "report.html").read_text(encoding="utf-8")
    data = data_of(folders["plain"])
    first = text[text.index('<table class="map">') :]
    cells = re.findall(r"<td(.*?)>(.*?)</td>", first[: first.index("</table>")])
    names = [row["agent"] for row in data["ratings"]["agents"]]
    assert len(cells) == 16
    for k, (style, shown) in enumerate(cells):
        one, other = names[k // 4], names[k % 4]
        found = against(data, one, other)
        if one == other:
            assert found is None and shown == "" and style == ""
            continue
        mirrored = against(data, other, one)
        assert found[0] + mirrored[0] == pytest.approx(1)
        assert found[1][0] + mirrored[1][1] == pytest.approx(1)
        assert shown == f"{found[0]:.2f}"
        assert f'class="{"good" if found[0] >= 0.5 else "bad"}"' in style
        percent = int(re.search(r"--p: (\d+)%", style).group(1))
        assert percent == pytest.approx(75 * abs(2 * found[0] - 1), abs=1)


def test_learning_curves(folders, checkpoints):
    """Of the run with several checkpoints, in the order of training."""
    data = data_of(folders["curve"])
    run = checkpoints[0].removeprefix("dmc:").rpartition("/")[0]
    assert runs(data) == {run: [checkpoints[0], checkpoints[2], checkpoints[1]]}
    assert data["checkpoints"][checkpoints[1]]["minutes"] == 30
    text = page_of(folders["curve"]).text
    assert "Learning curve: x" in text and "Learning curve: y" not in text
    assert "against greedy" in text and "minutes of training" in text
    assert "Learning curve" not in page_of(folders["plain"]).text


@pytest.mark.parametrize("scale", [0.0003, 0.0007, 0.07, 0.37, 1, 60, 600, 12_345, 400_000])
def test_minutes_on_an_axis_do_not_overlap(folders, scale):
    """However short or long a run was."""
    data = data_of(folders["curve"])
    for about in data["checkpoints"].values():
        about["minutes"] *= scale
    ((run, specs),) = runs(data).items()
    labels = re.findall(
        r'middle; fill: currentColor" x="([\d.]+)" y="([\d.]+)"[^>]*>([\d.]+)</text>',
        draw_run(data, run, specs),
    )
    places = [(float(x), 0.62 * 9 * len(text)) for x, _, text in labels]
    assert len(places) > 2 and len({y for _, y, _ in labels}) == 1
    for (x, wide), (after, next_wide) in pairwise(places):
        assert after - x > (wide + next_wide) / 2


def test_every_column_of_figures_is_explained(folders):
    for name in NAMES:
        page = page_of(folders[name])
        foot = page.text[page.text.rindex("WP: ") :]
        for column in ("ADP", "score", "gain", "rating"):
            assert f"{column}: " in foot


def test_short_names():
    specs = ["dmc:runs/x/last.pt", "dmc:runs/y/last.pt", "greedy", "my.mod:Agent"]
    assert short_names(specs) == {s: s for s in specs}
    specs = ["dmc:runs/x/1.pt", "search:model=runs/x/2.pt,playouts=5", "m:A:path=/a/b"]
    short = ["dmc:1.pt", "search:model=2.pt,playouts=5", "m:A:path=b"]
    assert list(short_names(specs).values()) == short


def test_odd_names_are_no_markup(folders):
    data = data_of(folders["two"])
    odd = "x<script>alert(1)</script>&\"'"
    text = json.dumps(data).replace("random:seed=4", json.dumps(odd)[1:-1])
    page = Page(report.page(json.loads(text)))
    assert odd in page.text and "script" not in {tag for tag, _ in page.tags}


def test_the_same_results_give_the_same_page(folders, tmp_path):
    path = tmp_path / "deep" / "page.html"
    assert report.main([str(folders["curve"]), "--out", str(path)]) == 0
    first = path.read_bytes()
    assert report.main([str(folders["curve"]), "--out", str(path)]) == 0
    assert path.read_bytes() == first == (folders["curve"] / "report.html").read_bytes()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["no/such/folder"], "no/such/folder"),
        (["EMPTY"], "results.json"),
        (["OTHER"], "ddz-tournament-1"),
        (["PLAIN", "--out", "TAKEN"], "no report"),
        (["PLAIN", "--out", "TAKEN/x.html"], "is a file"),
        (["PLAIN", "--out", "EMPTY"], "no report"),
    ],
)
def test_bad_arguments(words, named, folders, tmp_path, capsys):
    places = {k: tmp_path / k.lower() for k in ("EMPTY", "OTHER", "TAKEN")}
    places["EMPTY"].mkdir()
    places["OTHER"].mkdir()
    (places["OTHER"] / "results.json").write_text('{"pairings": []}')
    places["TAKEN"].write_text("kept")
    places["PLAIN"] = folders["plain"]
    for key, place in places.items():
        words = [word.replace(key, str(place)) for word in words]
    assert report.main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("report: ") and named in shown.err
    assert places["TAKEN"].read_text() == "kept" and not list(places["EMPTY"].iterdir())


# ------------------------------------------------------------------------------- in a browser


def browse(path, home, *options):
    """(elements, what was said on the console) of a page in headless Chromium."""
    line = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    line += ["--allow-file-access-from-files", f"--user-data-dir={home}", "--dump-dom", *options]
    done = subprocess.run(
        [*line, path.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@needs_browser
def test_the_console_is_heard(tmp_path):
    """What the next tests rely on: an error on the console is seen."""
    path = tmp_path / "broken.html"
    path.write_text("<script>nowhere()</script>")
    assert "nowhere is not defined" in browse(path, tmp_path / "home")[1][0]


@needs_browser
@pytest.mark.parametrize("name", ["plain", "calling", "curve"])
@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser(folders, tmp_path, name, width):
    """No word on the console, and nothing wider than the screen but what scrolls by itself."""
    frame = tmp_path / "frame.html"
    source = (folders[name] / "report.html").as_uri()
    frame.write_text(
        f'<iframe id="f" width="{width}" height="900" src="{source}"></iframe>'
        '<p id="p"></p><script>'
        "f.onload = () => { const d = f.contentDocument, w = d.documentElement;"
        "const wide = [...d.querySelectorAll('body *')].filter(e => !e.closest('.scroll') &&"
        " e.getBoundingClientRect().right > w.clientWidth + 1).map(e => e.tagName);"
        "p.textContent = JSON.stringify([w.scrollWidth, w.clientWidth, wide, "
        "d.querySelectorAll('svg').length]); }</script>"
    )
    shown, console = browse(frame, tmp_path / "home")
    assert console == []
    scroll, client, wide, drawings = json.loads(re.search(r'<p id="p">(.*?)</p>', shown).group(1))
    assert scroll <= client <= width and wide == []
    assert drawings == (2 if name == "curve" else 1)
