"""A run's learning curve, measured: `python eval/curve.py runs/x`.

Every player that the run kept (`train/selfplay.py --keep 1 3 10 ...`) and its last one play
duplicate matches against the rule agents and against `search`. What has been played is kept in the
folder `curve` of the run, so the command goes on after it was stopped. Writes `curve.json`,
`curve.md` (the table of the docs) and `curve.png` there.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

import agents
from ddz_env.errors import DdzError
from ddz_env.rooms import load_rules
from eval import tournament
from eval.cli import check_count, command_line, guarded, replacing, save_json, versions
from eval.tables import with_interval

RULE_AGENTS = ("random", "rlcard_rule", "greedy", "planner")
SEARCH = "search"
FINAL = "last.pt"


@dataclass(frozen=True)
class Command:
    """Measure the players that a run kept."""

    run: Annotated[Path, tyro.conf.Positional]
    """Folder of the run."""
    algo: str = "dmc"
    """Agent that plays the checkpoints."""
    rules: str = "play_only"
    """Room; in rooms with calling `greedy` makes all choices before the play."""
    deals: int = 4000
    """Duplicate deals against each rule agent."""
    final_deals: int = 10_000
    """The same of the last player."""
    search_deals: int = 200
    """Duplicate deals against `search`, which takes 0.1 s a decision; 0 for none."""
    beside: Path | None = None
    """Folder of another run whose curve has been measured: drawn beside, dashed."""
    seed: int = 20_000_001
    """Seed of the deals."""


def players(run: Path) -> list[Path]:
    """The players of a run, in order.

    Raises:
        DdzError: none there.
    """
    kept = sorted(run.glob("minute-*.pt"), key=lambda path: float(path.stem.split("-")[1]))
    found = kept + [path for path in [run / FINAL] if path.is_file()]
    if not found:
        raise DdzError(f"{run}: no minute-*.pt or {FINAL} there; expected the folder of a run")
    return found


def measure(command: Command, path: Path, line: str, console: Console) -> dict[str, Any]:
    """The matches of one player: minutes, decisions, figures by opponent."""
    calls = None if load_rules(command.rules).auction == "none" else "greedy"
    spec, against, about = f"{command.algo}:{path}", {}, {}
    deals = command.final_deals if path.name == FINAL else command.deals
    for opponents, n in ((RULE_AGENTS, deals), ((SEARCH,), command.search_deals)):
        if not n:
            continue
        played = tournament.Command(
            agents=[spec, *opponents],
            rules=command.rules,
            calls=calls,
            schedule="gauntlet",
            deals=n,
            seed=command.seed,
            out=command.run / "curve" / f"{path.stem}-{opponents[-1]}",
            chunk=200 if n > 1000 else 25,
        )
        data = tournament.run(played, line, console)
        about = data["checkpoints"][spec]
        against |= {row["b"]: row for row in data["pairings"]}
    return {"player": path.name, **about, "against": against}


def markdown(points: list[dict[str, Any]]) -> str:
    """The table of the docs."""
    lines = [
        "| minutes | decisions | against | WP | as landlord | as farmers | ADP | deals |",
        "| ---: | ---: | --- | --- | --- | --- | --- | ---: |",
    ]
    for point in points:
        head = f"{point['minutes']:.0f} | {point['decisions'] / 1e6:.1f} M"
        for name, row in point["against"].items():
            wp = with_interval(row["wp"], row["ci"])
            adp = with_interval(row["adp"], row["adp_ci"], 2, True)
            roles = f"{row['landlord']:.3f} | {row['farmers']:.3f}"
            lines.append(f"| {head} | `{name}` | {wp} | {roles} | {adp} | {row['deals']:,} |")
            head = " | "
    return "\n".join(lines).replace(" 0.", " .") + "\n"


def measured(run: Path | None) -> list[dict[str, Any]]:
    """The points of another run's curve.

    Raises:
        DdzError: it has not been measured.
    """
    if run is None:
        return []
    path = run / "curve" / "curve.json"
    if not path.is_file():
        raise DdzError(f"--beside {run}: no {path}; python eval/curve.py {run} makes it")
    try:
        return json.loads(path.read_text())["points"]
    except (ValueError, KeyError, TypeError):
        raise DdzError(f"--beside {run}: {path} is no curve of eval/curve.py") from None


def draw(
    points: list[dict[str, Any]], beside: list[dict[str, Any]], path: Path, title: str
) -> None:
    """WP against each opponent over minutes, with intervals: both sides, then each role.

    Args:
        points: of the run.
        beside: of another run, dashed, up to the length of this one.
        path: of the picture.
        title: above it.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), dpi=120, sharey=True)
    minutes = [point["minutes"] for point in points]
    names = [name for name in points[-1]["against"]]
    for axis, (key, ci, label) in zip(
        axes,
        (
            ("wp", "ci", "both sides"),
            ("landlord", "landlord_ci", "as landlord"),
            ("farmers", "farmers_ci", "as farmers"),
        ),
        strict=True,
    ):
        for name in names:
            rows = [point["against"][name] for point in points]
            (line,) = axis.plot(
                minutes, [r[key] for r in rows], marker="o", markersize=4, label=f"against {name}"
            )
            low, high = zip(*(r[ci] for r in rows), strict=True)
            axis.fill_between(minutes, low, high, alpha=0.2, color=line.get_color())
            other = [p for p in beside if name in p["against"] and p["minutes"] <= minutes[-1]]
            values = [p["against"][name][key] for p in other]
            axis.plot([p["minutes"] for p in other], values, "--x", color=line.get_color())
        axis.axhline(0.5, color="grey", linewidth=0.8, linestyle="--")
        axis.set_xscale("log")
        axis.set_xticks(minutes, [f"{m:.0f}" for m in minutes])
        axis.minorticks_off()
        axis.set(title=label, xlabel="minutes of training", ylim=(0, 1))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("WP (duplicate deals)")
    figure.suptitle(title)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(names))
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png")
    plt.close(figure)


def run(command: Command, line: str) -> None:
    """Play what is missing, then write table and picture.

    Raises:
        DdzError: an argument that can't be used, by name; a folder that is no run.
    """
    rules = load_rules(command.rules)
    for option in ("deals", "final_deals", "search_deals"):
        least = 0 if option == "search_deals" else 1
        check_count(f"--{option.replace('_', '-')}", getattr(command, option), least)
    found, beside = players(command.run), measured(command.beside)
    for path in found:
        agents.load(f"{command.algo}:{path}", rules)
    console = Console()
    points = []
    for number, path in enumerate(found, 1):
        console.print(f"{number}/{len(found)}: {path}", highlight=False, soft_wrap=True)
        points.append(measure(command, path, line, console))
    folder = command.run / "curve"
    about = {"command": line, "rules": rules.name, "versions": versions("numpy", "numba", "torch")}
    save_json(folder / "curve.json", {**about, "points": points})
    with replacing(folder / "curve.md") as temporary:
        temporary.write_text(markdown(points))
    title = f"{rules.name}, {command.run.name}"
    title += f" (dashed: {command.beside.name})" if command.beside else ""
    draw(points, beside, folder / "curve.png", title)
    console.print(markdown(points), markup=False, highlight=False, soft_wrap=True)
    console.print(f"wrote {folder}: curve.json, curve.md, curve.png", soft_wrap=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)
    try:
        return guarded("curve", lambda: run(command, command_line("eval/curve.py", arguments)))
    except KeyboardInterrupt:
        print("curve: stopped; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
