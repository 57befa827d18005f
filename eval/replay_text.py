"""A kept deal in the terminal: tables of 80 columns, in English or Chinese."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ddz_env.words import player, score
from eval.replay_deal import Deal, Step
from eval.replay_values import Value
from eval.replay_words import say, say_choice, say_phase

ROLE_STYLES = {"landlord": "bold yellow", "landlord_down": "green", "landlord_up": "cyan"}


def _hand(cards: list[str]) -> str:
    """Cards as letters."""
    return "".join(card[0] for card in cards)


def _table(*columns: tuple[str, str]) -> Table:
    """A table with heads, each with what its column is aligned by."""
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head, justify in columns:
        grid.add_column(head, justify=justify)  # type: ignore[arg-type]
    return grid


def show_deal(
    console: Console,
    deal: Deal,
    values: list[Value | None] | None,
    lang: str,
    place: tuple[int, int],
) -> None:
    """Print a deal.

    Args:
        console: where.
        deal: the deal.
        values: what a model says of its decisions, or None.
        lang: `en` or `zh`.
        place: the deal's number in the file, and how many the file has.
    """
    title = (
        f"{deal.room}, {say('deal', lang)} {place[0]}/{place[1]}, {say('key', lang)} {deal.seed}"
    )
    if deal.redeals:
        title += f", {say('redeals', lang)} {deal.redeals}"
    console.print(title, style="bold", highlight=False)
    console.print(_hands(deal, lang))
    line = f"{say('bottom', lang)}  {_hand(deal.bottom)}"
    if deal.wild:
        wild = say("jokers" if deal.wild == "jokers" else "red 7", lang)
        line += f"   {say('wild', lang)}  {deal.wild if len(deal.wild) == 1 else wild}"
    console.print(line + "\n", highlight=False)
    before = [step for step in deal.steps if step.phase != "play"]
    if before:
        console.print(_before(before, lang))
        console.print()
    console.print(_plays(deal, values, lang))
    console.print()
    console.print(*_result(deal, lang), sep="\n", highlight=False)


def _hands(deal: Deal, lang: str) -> Table:
    """Who sits where, with which cards."""
    grid = _table(("", "left"), (say("role", lang), "left"), ("", "left"), ("", "left"))
    grid.show_header = False
    for seat, role in enumerate(deal.roles()):
        name = Text(player(seat, lang), ROLE_STYLES.get(role, ""))
        agent = Text(deal.agents[seat], "dim", overflow="ellipsis", no_wrap=True)
        grid.add_row(name, say(role, lang), agent, Text(_hand(deal.hands[seat]), no_wrap=True))
    grid.columns[2].max_width = 24
    return grid


def _before(steps: list[Step], lang: str) -> Text:
    """What was decided before the play, a line for each phase."""
    lines: list[str] = []
    phase = ""
    for step in steps:
        choice = "no" if step.text == "pass" else step.text
        text = f"{player(step.seat, lang)} {say_choice(choice, lang)}"
        if step.phase == phase:
            lines[-1] += f", {text}"
        else:
            lines.append(f"{say_phase(step.phase, lang)}: {text}")
        phase = step.phase
    return Text("\n".join(lines))


def _plays(deal: Deal, values: list[Value | None] | None, lang: str) -> Table:
    """Each play in its order, with cards left, and what the model says."""
    columns = [("#", "right"), (say("seat", lang), "left"), (say("made", lang), "left")]
    columns.append((say("left", lang), "right"))
    if values is not None:
        columns += [(say("chance", lang), "right"), (say("preferred", lang), "left")]
        columns.append((say("chance", lang), "right"))
    grid = _table(*columns)
    left = [len(hand) for hand in deal.hands]
    if deal.landlord is not None:
        left[deal.landlord] += len(deal.bottom)
    roles = deal.roles()
    for i, step in enumerate(deal.steps):
        if step.phase != "play":
            continue
        left[step.seat] -= len(step.cards)
        role = roles[step.seat]
        choice = Text(say_choice(step.text, lang), "bold" if step.cards else "dim")
        name = Text(player(step.seat, lang), ROLE_STYLES.get(role, ""))
        row: list[Text | str] = [str(i + 1), name, choice, str(left[step.seat])]
        if values is not None:
            row += _valued(values[i], lang)
        grid.add_row(*row)
    return grid


def _valued(value: Value | None, lang: str) -> list[Text | str]:
    """The chance of what was played; what the model prefers, where it is another play."""
    if value is None:
        return ["", "", ""]
    cells: list[Text | str] = [f"{value.choices[value.made].chance:.3f}", "", ""]
    if value.other:
        best = value.choices[0]
        cells[1:] = [Text(say_choice(best.text, lang), "magenta"), f"{best.chance:.3f}"]
    return cells


def _result(deal: Deal, lang: str) -> list[str]:
    """How the deal ended, and the score with its parts."""
    if deal.scores is None:
        return [say("broken off", lang)]
    if deal.winner is None:
        return [say("void deal", lang)]
    ended = "landlord wins" if deal.winner == deal.landlord else "farmers win"
    lines = [f"{say(ended, lang)}: {player(deal.winner, lang)} {say('went out', lang)}"]
    total, parts = 1.0, []
    for part in deal.parts:
        total *= part.factor
        count = f" ({part.count})" if part.count > 1 else ""
        parts.append(f"{say(part.name, lang)}{count} {part.factor:g}")
    lines.append(f"{' × '.join(parts)} = {total:g}")
    if deal.room_factor != 1:
        lines.append(f"{say('room_factor', lang)} × {deal.room_factor:g}")
    roles = deal.roles()
    for seat, points in enumerate(deal.scores):
        doubled = f"  {say('doubled', lang)} × 2" if deal.doubled[seat] else ""
        name = f"{player(seat, lang)}  {say(roles[seat], lang):14}"
        lines.append(f"{name} {score(points):>8}{doubled}")
    return lines
