"""What each part of the default settings brings: short runs of equal length, with one part changed.

`python train/ablations.py --minutes 4 --seeds 3 --out runs/ablations` trains every variant with
every seed in one process each, two at a time, and writes `ablations.json` and a picture. What has
been trained already is kept, so the command can be given again after it was stopped, and for more
seeds. Variants of one seed run side by side, so that a noisy machine troubles all alike.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy import stats

from ddz_env.errors import DdzError
from ddz_env.rooms import load_rules
from eval.cli import check_count, check_folder, guarded, save_json
from train.common import EVALUATED

VARIANTS = {
    "default": "",
    "not factorised": "--dmc.net.joint",
    "not factorised 256 wide": "--dmc.net.joint --dmc.net.hidden 256",
    "no history": "--dmc.net.no-history",
    "no facts": "--dmc.net.no-facts",
    "smaller network": "--dmc.net.hidden 256 --dmc.net.state 128 --dmc.net.head 64",
    "larger network": "--dmc.net.hidden 1024 --dmc.net.state 512 --dmc.net.head 256",
    "no averaging": "--dmc.average 0",
    "smaller batch": "--dmc.batch 512",
    "guessing a hand": "--dmc.belief 0.02",
    "with a critic": "--dmc.td-lambda 1 --dmc.critic 256",
    "samples used twice": "--dmc.reuse 2",
    "copied games": "--dmc.forks 0.5",
    "results alone": "--dmc.td-lambda 1",
    "lambda 0.9": "--dmc.td-lambda 0.9",
    "lambda 0.5": "--dmc.td-lambda 0.5",
    "lambda 0.3": "--dmc.td-lambda 0.3",
}
"""Options that each variant adds to the default settings."""


@dataclass(frozen=True)
class Command:
    """Compare the default settings of DMC with variants, at equal time."""

    minutes: float = 4.0
    """Length of each run."""
    seeds: int = 3
    """Seeds of each variant, from 1."""
    rules: str = "play_only"
    """Room."""
    deals: int = 4000
    """Duplicate deals of the closing evaluation against each opponent."""
    jobs: int = 2
    """Runs at a time, one process each."""
    variants: str = ",".join(VARIANTS)
    """Variants, with commas between."""
    out: Path = Path("runs/ablations")
    """Folder of the runs."""


def train(command: Command, variant: str, seed: int) -> dict[str, Any]:
    """Train one variant with one seed unless that has been done; its summary."""
    folder = command.out / f"{variant.replace(' ', '-')}-{seed}"
    summary = folder / "summary.json"
    if not summary.is_file():
        length = ["--minutes", str(command.minutes), "--eval-minutes", str(command.minutes)]
        length += ["--eval-deals", "100", "--final-deals", str(command.deals)]
        words = ["--rules", command.rules, "--seed", str(seed), "--dmc.workers", "1"]
        words += VARIANTS[variant].split()
        if (folder / "last.pt").is_file():
            words = ["--resume"]  # with its own settings
        words += [*length, "--out", str(folder)]
        script = str(Path(__file__).with_name("selfplay.py"))
        with (command.out / f"{folder.name}.log").open("w") as log:
            done = subprocess.run([sys.executable, script, *words], stdout=log, stderr=log)
        if done.returncode or not summary.is_file():
            raise DdzError(f"the run {folder} failed; see {folder}.log")
    return json.loads(summary.read_text())


def compared(summaries: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Means over seeds, and paired differences to the default with 95% intervals (t).

    Args:
        summaries: of each variant, one for each seed.
    """
    out: dict[str, Any] = {}
    base = summaries["default"]
    for variant, found in summaries.items():
        row: dict[str, Any] = {"decisions": round(sum(s["decisions"] for s in found) / len(found))}
        for name in EVALUATED:
            values = [s["evaluation"][name]["wp"] for s in found]
            gaps = [v - s["evaluation"][name]["wp"] for v, s in zip(values, base, strict=True)]
            mean, n = sum(gaps) / len(gaps), len(gaps)
            half = None
            if n > 1:
                half = float(stats.t.ppf(0.975, n - 1) * stats.sem(gaps))
            row[name] = {"wp": sum(values) / n, "each": values, "gap": mean, "half": half}
        out[variant] = row
    return out


def show(console: Console, rows: dict[str, Any]) -> None:
    """The table: WP, and its distance to the default's."""
    table = Table("variant", *EVALUATED, "decisions", title="WP, and distance to the default")
    for variant, row in rows.items():
        cells = []
        for figures in (row[name] for name in EVALUATED):
            text = f"{figures['wp']:.3f}"
            if variant != "default":
                text += f"  {figures['gap']:+.3f}"
                text += "" if figures["half"] is None else f" ±{figures['half']:.3f}"
            cells.append(text)
        table.add_row(variant, *cells, f"{row['decisions'] / 1e6:.1f} M")
    console.print(table)


def draw(rows: dict[str, Any], path: Path, title: str) -> None:
    """A picture: every seed's distance to the default with that seed, by opponent."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    figure, axes = plt.subplots(1, len(EVALUATED), figsize=(10, 4), dpi=120, sharey=True)
    names = list(rows)
    for axis, opponent in zip(axes, EVALUATED, strict=True):
        base = rows["default"][opponent]
        for y, name in enumerate(names):
            found = zip(rows[name][opponent]["each"], base["each"], strict=True)
            each = [value - default for value, default in found]
            axis.plot(each, [y] * len(each), "o", color="tab:grey", markersize=4)
            axis.plot(sum(each) / len(each), y, "|", color="tab:red", markersize=18)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set(xlabel=f"WP against {opponent},\nless that of the default ({base['wp']:.3f})")
        axis.xaxis.set_major_locator(MaxNLocator(4))
        axis.grid(alpha=0.3)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def run(command: Command) -> None:
    """Train what is missing, compare, write.

    Raises:
        DdzError: an argument that is out of range; a run that failed.
    """
    variants = command.variants.split(",")
    for name in variants:
        if name not in VARIANTS:
            raise DdzError(f"--variants: unknown {name!r}; expected {', '.join(VARIANTS)}")
    if "default" not in variants:
        raise DdzError("--variants: expected default among them, to compare with")
    load_rules(command.rules)
    check_count("--seeds", command.seeds, most=1000)
    check_count("--deals", command.deals)
    check_count("--jobs", command.jobs, most=64)
    if not command.minutes > 0:
        raise DdzError(f"--minutes: expected a number above 0, got {command.minutes}")
    check_folder(command.out)
    command.out.mkdir(parents=True, exist_ok=True)
    tasks = [(variant, seed) for seed in range(1, command.seeds + 1) for variant in variants]
    console = Console()
    cost = command.minutes * len(tasks) / command.jobs
    console.print(f"{len(tasks)} runs, about {1.2 * cost:.0f} minutes", highlight=False)
    with ThreadPoolExecutor(command.jobs) as pool:
        jobs = pool.map(lambda task: train(command, *task), tasks)
        found = list(track(jobs, "training", len(tasks), console=console))
    summaries: dict[str, list[dict[str, Any]]] = {name: [] for name in variants}
    for (variant, _), summary in zip(tasks, found, strict=True):
        summaries[variant].append(summary)
    rows = compared(summaries)
    show(console, rows)
    options = {name: VARIANTS[name] for name in variants}
    about = {"minutes": command.minutes, "seeds": command.seeds, "deals": command.deals}
    save_json(command.out / "ablations.json", {**about, "options": options, "variants": rows})
    title = f"{command.rules}, {command.minutes:g} minutes on one core, {command.seeds} seeds"
    draw(rows, command.out / "ablations.png", title)
    wrote = f"wrote {command.out / 'ablations.json'} and {command.out / 'ablations.png'}"
    console.print(wrote, soft_wrap=True, highlight=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)
    return guarded("ablations", lambda: run(command))


if __name__ == "__main__":
    sys.exit(main())
