"""What a run shows while it goes and leaves behind: progress, TensorBoard, table, picture."""

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

import ddz_env
from eval.cli import save_json
from eval.figures import MatchResult
from train.common import RunSettings, print_results
from train.counts import asked

PLAIN_SECONDS = 30.0
"""Seconds between two lines where the output is no terminal."""


def shares(counts: dict[str, int], before: dict[str, int]) -> dict[str, float]:
    """What happened since `before`, as shares of games or of the times that it was asked."""
    if "landlord_wins" not in counts:  # nothing is played in training
        return {}
    new = {name: value - before.get(name, 0) for name, value in counts.items()}
    games = max(new.get("games", 0), 1)
    out = {
        "play/landlord_wins": new.get("landlord_wins", 0) / games,
        "play/bombs_a_game": new.get("bombs", 0) / games,
    }
    for name, value in new.items():
        times = new.get(asked(name), 0)
        if times:
            out[f"play/{name}_share"] = value / times
    return out


class Report:
    """What a run tells."""

    def __init__(self, settings: RunSettings, algo: str, agent: str = "") -> None:
        self.settings, self.algo = settings, algo
        self.agent = agent or algo.removeprefix("rllib-")
        """What plays the checkpoints."""
        self._algo = "" if algo == "dmc" else f" --algo {algo}"
        self.console = Console()
        self.writer = SummaryWriter(str(settings.out / "tensorboard"))
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:3.0f}%"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.progress.add_task("training", total=1.0)
        self.progress.start()
        self._begin = self._printed = time.monotonic()
        self._logged = 0.0
        self._logged_counts: dict[str, int] = {}
        self._first: tuple[int, int] | None = None
        self._wp = "not evaluated yet"

    def update(self, run: Any, schedules: dict[str, float]) -> None:
        """Note an update, and the schedules as they stand; show and log it now and then."""
        now = time.monotonic()
        done, counts = run.clock.done(run.learner.updates), run.counts()
        decisions, games = counts["decisions"], counts["games"]
        if self._first is None:
            self._first = decisions, games
            self._begin = now
        if now - self._logged < 2.0:
            return
        self._logged = now
        rate = (decisions - self._first[0]) / max(now - self._begin, 1e-9)
        scalars = {
            "speed/decisions_per_second": rate,
            "speed/games": games,
            **{f"schedule/{name}": value for name, value in schedules.items()},
            **run.learner.metrics,
            **shares(counts, self._logged_counts),
        }
        self._logged_counts = counts
        for name, value in scalars.items():
            self.writer.add_scalar(name, value, run.learner.updates)
        text = f"{rate:,.0f} decisions/s  {games:,} games  WP {self._wp}"
        self.progress.update(self.task, completed=done, description=text)
        if not self.console.is_terminal and now - self._printed > PLAIN_SECONDS:
            self._printed = now
            left = run.clock.elapsed * (1 / max(done, 1e-6) - 1) / 60
            line = f"{100 * done:3.0f}%  {text}  {left:.1f} minutes left"
            self.console.print(line, highlight=False, soft_wrap=True)

    def evaluation(self, point: dict[str, Any], results: dict[str, MatchResult]) -> None:
        """Show and log an evaluation on the way."""
        self._wp = " / ".join(f"{r.wp:.3f} {name}" for name, r in results.items())
        self.console.print(f"after {point['minutes']:.1f} minutes: WP {self._wp}")
        for name, r in results.items():
            name = name.replace(", ", "_").replace(" ", "_")
            self.writer.add_scalar(f"score/{name}", r.score, point["updates"])
            self.writer.add_scalar(f"wp/{name}", r.wp, point["updates"])
            self.writer.add_scalar(f"wp/{name}_landlord", r.landlord, point["updates"])
            self.writer.add_scalar(f"wp/{name}_farmers", r.farmers, point["updates"])
        self.writer.flush()

    def closing(self) -> None:
        """Say that the last evaluation begins."""
        self.progress.stop()
        deals = self.settings.final_deals
        self.console.print(f"closing evaluation: {deals:,} duplicate deals against each opponent")

    def stopped(self) -> None:
        """Say how to go on after Ctrl-C."""
        self.progress.stop()
        self.writer.close()
        out = self.settings.out
        self.console.print(
            f"stopped; saved in {out}\n"
            f"go on with: python train/selfplay.py{self._algo} --resume --out {out}",
            highlight=False,
            soft_wrap=True,
        )

    def say(self, text: str) -> None:
        """Say something."""
        self.console.print(text, highlight=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """Say what went wrong and does not end the run."""
        self.console.print(text, style="yellow", highlight=False, soft_wrap=True)

    def close(self, run: Any, results: dict[str, MatchResult]) -> None:
        """The closing table, summary.json, the learning curve, and what to do next."""
        settings = self.settings
        counts = run.counts()
        decisions, games = counts["decisions"], counts["games"]
        save_json(
            settings.out / "summary.json",
            {
                "version": ddz_env.__version__,
                "rules": settings.name,
                "seed": settings.seed,
                "minutes": round(run.clock.elapsed / 60, 2),
                "updates": run.learner.updates,
                "decisions": decisions,
                "games": games,
                "decisions_per_second": round(decisions / run.clock.elapsed, 1),
                "evaluation": {name: r.to_json() for name, r in results.items()},
                "curve": run.history,
                **run.facts(),
            },
        )
        self.writer.close()
        title = f"{settings.name}: {self.algo} after {run.clock.elapsed / 60:.1f} minutes"
        title += f", {decisions / 1e6:.1f} million decisions, {games:,} games"
        print_results(self.console, title, results)
        picture = save_curve(settings, run.history)
        last = settings.out / "last.pt"
        rules = settings.rooms[0].name
        lines = (
            f"\nresults {settings.out / 'summary.json'}, curve {picture}",
            "next:",
            f"  python eval/play.py {self.agent}:{last} --rules {rules}",
            f"  python eval/tournament.py {self.agent}:{last} greedy rlcard_rule --rules {rules}",
            f"  tensorboard --logdir {settings.out.parent}",
        )
        self.console.print("\n".join(lines), highlight=False, soft_wrap=True)


def save_curve(settings: RunSettings, history: list[dict[str, Any]]) -> str:
    """Draw the chance of winning against each opponent over minutes; the picture's path."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), dpi=120)
    minutes = [point["minutes"] for point in history]
    for name in [k for k in history[-1] if k not in ("minutes", "updates", "decisions")]:
        values = [point[name] for point in history]
        axes.plot(minutes, values, marker="o", markersize=3, label=f"against {name}")
    axes.axhline(0.5, color="grey", linewidth=0.8, linestyle="--")
    axes.set(xlabel="minutes of training", ylabel="WP (duplicate deals)", ylim=(0, 1))
    axes.set_title(f"{settings.name}, seed {settings.seed}")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    path = settings.out / "curve.png"
    figure.savefig(path)
    plt.close(figure)
    return str(path)
