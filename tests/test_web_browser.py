"""The page of `eval/play.py --web` in headless Chromium: whole deals by clicks and by keys."""

import shutil

import pytest
from web_server import served

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium here")
READY = "#ask[aria-busy=false] :is(#hint, #next, .main button):enabled"


@pytest.fixture(scope="module")
def address():
    with served() as (url, _):
        yield url


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser, address):
    """A page in a profile of its own; whatever is said on its console fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    made, said = context.new_page(), []
    made.set_default_timeout(15_000)
    made.on("console", lambda message: said.append(message.text))
    made.on("pageerror", lambda error: said.append(str(error)))
    made.goto(address)
    yield made
    context.close()
    assert said == []


def sit_down(page, room, lang="en", seat="0"):
    page.click(f"#lang-{lang}")
    page.wait_for_selector("#start")
    page.select_option("#rules", room)
    page.select_option("#pace", "instant")
    page.select_option("#after", "greedy")
    page.select_option("#before", "random")
    page.select_option("#seat", seat)
    page.click("#start")
    page.wait_for_selector(READY)


def settled(page):
    """Wait until the page can be answered."""
    page.wait_for_selector(READY)
    return (
        "next" if page.query_selector("#next") else "play" if page.query_selector("#play") else ""
    )


def click_cards(page):
    """Select what the hint says by clicks on the cards themselves, then play it."""
    page.click("#hint")
    page.wait_for_selector("#hints")
    page.wait_for_selector(READY)
    chosen = page.eval_on_selector_all(
        ".hand [aria-pressed=true]", "found => found.map(one => one.id)"
    )
    if not chosen:
        page.click("#pass")
        return
    page.click("#clear")
    for card in chosen:  # near its left edge: the rest may lie under the next card
        page.click(f"#{card}", position={"x": 6, "y": 30})
    page.wait_for_selector("#tried:not(:empty)")
    page.click("#play")


def follow_hint(page, asked, see=lambda: None):
    """Ask for a hint, look at it, do what it says; before the play the first answer."""
    page.click("#hint")
    page.wait_for_selector("#hints")
    page.wait_for_selector(READY)
    see()
    if asked == "play":
        page.click("#play" if page.query_selector("#play:enabled") else "#pass")
    else:
        page.click(".main button >> nth=0")


def number(page):
    """What changes with every decision: cards of the hand, the question."""
    return [page.locator(".hand .card").count(), page.text_content("#ask")]


def play_by_clicks(page):
    for _ in range(80):
        asked = settled(page)
        if asked == "next":
            return
        if asked == "play":
            click_cards(page)
        else:
            page.click(".main button >> nth=0")
    raise AssertionError("the deal does not end")


@pytest.mark.parametrize(
    ("room", "lang"),
    [
        ("play_only", "en"),
        ("happy", "zh"),
        ("happy_laizi", "en"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [("play_only", "zh"), ("happy", "en"), ("happy_laizi", "zh")]
        ),
    ],
)
def test_a_deal_by_clicks(page, room, lang):
    sit_down(page, room, lang)
    assert page.get_attribute("html", "lang").startswith(lang)
    play_by_clicks(page)
    assert page.text_content(".result strong") in ("You win", "You lose", "你赢了", "你输了")
    scores = page.eval_on_selector_all(".seats b.won, .seats b.lost", "all => all.length")
    assert scores == 3 and page.query_selector("#ledger")
    with page.context.expect_page() as opened:
        page.click("#replay")
    replay = opened.value
    replay.wait_for_selector("#slider")
    assert room in replay.text_content("h1")
    replay.close()
    page.click("#next")
    page.wait_for_selector(".hand .card, .main button")


@pytest.mark.parametrize("room", ["play_only", "happy", "happy_laizi"])
def test_a_deal_by_keyboard_alone(page, room):
    """The hint's cards by the letters of their ranks; choices by their keys."""
    sit_down(page, room)
    for _ in range(80):
        asked = settled(page)
        if asked == "next":
            break
        if asked == "play":
            page.keyboard.press("h")
            page.wait_for_selector("#hints")
            page.wait_for_selector(READY)
            chosen = page.eval_on_selector_all(
                ".hand [aria-pressed=true]", "all => all.map(one => one.id.split('-')[1][0])"
            )
            page.keyboard.press("Escape")
            for letter in chosen:
                page.keyboard.press(letter)
            page.wait_for_timeout(150)
            if chosen and page.query_selector("#play:enabled"):
                page.keyboard.press("Enter")
            else:
                page.keyboard.press("p")
        else:
            page.keyboard.press(page.get_attribute(".main button >> nth=0", "aria-keyshortcuts"))
    assert page.text_content(".result strong") in ("You win", "You lose")
    page.keyboard.press("r")
    page.wait_for_selector(".strip:has-text('deal 2')")
    assert settled(page) in ("play", "")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_what_axe_finds(browser, address, theme, width):
    """No fault of any rule, at every kind of view: lobby, questions, play, the end, replay."""
    size = {"width": width, "height": 844}
    context = browser.new_context(viewport=size, color_scheme=theme, bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#start")
    page.select_option("#theme", theme)

    def check(where, view):
        found = axe.Axe().run(view).response["violations"]
        told = [(one["id"], one["impact"], one["nodes"][0]["html"][:150]) for one in found]
        assert told == [], where

    check("lobby", page)
    sit_down(page, "happy_laizi")
    seen = set()
    for _ in range(80):
        asked = settled(page)
        if asked not in seen:
            check(asked or "question", page)
        seen.add(asked)
        if asked == "next":
            break
        follow_hint(page, asked, see=lambda: "hints" in seen or check("hints", page))
        seen.add("hints")
    assert seen >= {"", "play", "next"}
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    check("keys", page)
    page.click("dialog button")
    with context.expect_page() as opened:
        page.click("#replay")
    opened.value.wait_for_selector("#slider")
    check("replay", opened.value)
    context.close()


def test_the_hand_by_arrows_and_by_drawing(page):
    sit_down(page, "play_only")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert page.eval_on_selector_all(".hand [aria-pressed=true]", "all => all.length") == 1
    page.keyboard.press("Escape")
    first, third = (page.locator(".hand .card").nth(i).bounding_box() for i in (0, 2))
    page.mouse.move(first["x"] + 5, first["y"] + 40)
    page.mouse.down()
    page.mouse.move(third["x"] + 5, third["y"] + 40, steps=8)
    page.mouse.up()
    assert page.eval_on_selector_all(".hand [aria-pressed=true]", "all => all.length") == 3


def test_a_reload_and_a_second_table(page, address):
    sit_down(page, "play_only")
    hand = page.text_content(".hand")
    page.reload()
    page.wait_for_selector(READY)
    assert page.text_content(".hand") == hand
    click_cards(page)
    settled(page)
    played = number(page)
    page.reload()
    page.wait_for_selector(READY)
    assert number(page) == played
    first = page.url
    page.click("h1 a")
    sit_down(page, "happy")
    assert page.url != first
    page.click("h1 a")
    page.click("#tables a >> nth=0")
    page.wait_for_selector(READY)
    assert page.url == first and number(page) == played
    page.goto(f"{address}/#nothing")
    page.wait_for_selector("#to-lobby")


def test_taking_back_leaving_and_languages(page):
    sit_down(page, "play_only")
    before = number(page)
    click_cards(page)
    settled(page)
    page.click("#back")
    playwright.expect(page.locator(".hand .card")).to_have_count(before[0])
    page.click("#lang-zh")
    page.wait_for_selector("#prompt:has-text('轮到你先出')")
    page.click("#leave")
    page.wait_for_selector("#option-stay")
    page.click("#option-stay")
    page.wait_for_selector("#play")
    page.click("#leave")
    page.click("#option-flee")
    page.wait_for_selector("#lobby")


@pytest.mark.parametrize(("room", "width"), [("happy", 390), ("happy_laizi", 1440)])
def test_nothing_is_wider_than_the_screen(page, room, width):
    """At every question of a deal; and everything that can be pressed has a name."""
    page.set_viewport_size({"width": width, "height": 844})
    sit_down(page, room)
    for _ in range(60):
        asked = settled(page)
        found = page.evaluate("""() => {
          const wide = document.documentElement.clientWidth + 1;
          const all = [...document.querySelectorAll('#head *, #app *')];
          const out = all.filter(e => e.getBoundingClientRect().right > wide);
          return { wide: out.map(e => e.outerHTML.slice(0, 80)),
            nameless: all.filter(e => e.matches('button, a, select, input, [role=img]')
              && !(e.getAttribute('aria-label') || e.textContent || e.labels?.length)).length };
        }""")
        assert found == {"wide": [], "nameless": 0}
        if asked == "next":
            return
        follow_hint(page, asked)
    raise AssertionError("the deal does not end")
