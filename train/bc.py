"""Behaviour cloning: learns from kept games what their players chose.

A policy over the listed legal actions (`agents/ppo.py`, whose checkpoints these are: `ppo:PATH`
plays them) is made to give what was chosen a high probability: the loss is the cross-entropy of the
chosen action among those that were legal. Every phase is learned from, calls as well as plays and
the fillings of wild cards; left out are choices without an alternative and wins that are certain,
which the agent takes by itself. A share of the deals is held out: how often the policy's likeliest
choice is the one that was made there is printed by role. A deal that was played several times, as
duplicate matches do, is held out in all of its games or in none.

Command: `python train/selfplay.py --algo bc --replays games.jsonl --minutes 2 --out runs/b`.
Result to expect on two cores: docs/training.md.
"""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.box import SIMPLE_HEAD
from rich.table import Table

from agents.dmc_net import NetConfig
from agents.ppo import header, make_nets, read_checkpoint
from agents.role_agent import best_of, net_names
from train.actors import Actors
from train.averaged import Averaged
from train.common import RunSettings
from train.lessons import Lessons, read
from train.policies import Policies
from train.ppo import log_softmax, minibatches
from train.rollouts import Rollout, score_rows
from train.run import Run, run_here

MEASURED = 4096
"""Held-out choices that are scored at a time."""


@dataclass(frozen=True)
class BCConfig:
    """Settings of the algorithm."""

    workers: int = 2
    """Processes: one learns; all of them play evaluations. One for each core."""
    batch: int = 512
    """Choices of each network in an update."""
    lr: float = 1e-3
    """Learning rate of Adam at the start."""
    lr_end: float = 0.03
    """Share of the learning rate that is left at the end; it falls linearly."""
    held_out: float = 0.1
    """Share of the deals that are not learned from, to measure agreement on."""
    winners: bool = False
    """Learn only what the seats chose that won their deal."""
    who: str = ""
    """Learn only what one player chose: a seat (player_0 .. player_2), or an agent or person as the
    file names it; everybody if empty."""
    average: float = 0.97
    """Weight of the former average when new weights are averaged in."""
    average_every: int = 10
    """Updates between two averagings."""
    restart_every: int = 200
    """Updates between two checkpoints with --deterministic."""
    net: NetConfig = field(default_factory=NetConfig)
    """Sizes of the networks."""


# --------------------------------------------------------------------------------- pure functions


def batch_rows(rows: np.ndarray, update: int, size: int, seed: int) -> np.ndarray:
    """The rows of an update: each comes once in each pass, in an order drawn for the pass.

    Args:
        rows: all, `int64[n]`.
        update: number of the update, from 0.
        size: rows of an update, at most all.
        seed: of the orders.
    """
    n, size = len(rows), min(size, len(rows))
    begin, out = update * size, []
    for number in range(begin // n, (begin + size - 1) // n + 1):
        order = np.random.default_rng([seed, number]).permutation(rows)
        out.append(order[max(begin - number * n, 0) : min(begin + size - number * n, n)])
    return np.concatenate(out)


class Agreement(NamedTuple):
    """How a policy agrees with choices that were made."""

    choices: int
    accuracy: float
    """Share of them that are the policy's likeliest."""
    by_chance: float
    """The same of a random policy."""
    loss: float
    """Cross-entropy."""


# ---------------------------------------------------------------------------------------- learner


class Cloner(Averaged):
    """The networks, their average and optimisers."""

    def __init__(
        self, config: BCConfig, names: tuple[str, ...], seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(config, names, seed, device, make_nets)
        self.optimisers = [
            torch.optim.Adam([p for p in net.parameters() if p.requires_grad], config.lr)
            for net in self.nets
        ]
        self.seen = 0

    def update(self, lessons: Rollout, lr: float) -> None:
        """One step of each network."""
        for k, name in enumerate(self.names):
            rows = np.flatnonzero(lessons.choices["net"] == k)
            if not len(rows):
                continue
            for group in self.optimisers[k].param_groups:
                group["lr"] = lr
            order = batch_rows(rows, self.updates, self.config.batch, self.seed)
            for part in minibatches(order, lessons.lists.offsets, self.config.batch):
                losses, right = self._losses(self.nets[k], lessons, part)
                self.optimisers[k].zero_grad(set_to_none=True)
                losses.mean().backward()
                self.optimisers[k].step()
                self.metrics[f"loss/choice_{name}"] = losses.mean().item()
                self.metrics[f"accuracy/{name}"] = float(right.mean())
            self.seen += len(order)
        self.updated()

    def _losses(
        self, net: torch.nn.Module, lessons: Rollout, rows: np.ndarray
    ) -> tuple[torch.Tensor, np.ndarray]:
        """Cross-entropies of some choices, `float32[n]`; which are the likeliest, `bool[n]`."""
        found = score_rows(net, lessons, rows, self.device)
        log_chances = log_softmax(found.logits, found.row, len(rows))
        places = found.begins[:-1] + lessons.choices["chosen"][rows]
        own = log_chances[torch.from_numpy(places).to(self.device)]
        # As the agent chooses: of equals the first.
        best = best_of(found.begins, found.logits.detach().cpu().numpy())
        return -own, best == places

    @torch.no_grad()
    def agreement(self, lessons: Rollout) -> dict[str, Agreement]:
        """How the averaged policy agrees with choices, by the name of the network."""
        out = {}
        sizes = np.diff(lessons.lists.offsets)
        for k, name in enumerate(self.names):
            rows = np.flatnonzero(lessons.choices["net"] == k)
            if not len(rows):
                continue
            parts = minibatches(rows, lessons.lists.offsets, MEASURED)
            found = [self._losses(self.average[k], lessons, part) for part in parts]
            loss = torch.cat([losses for losses, _ in found]).mean().item()
            right = float(np.concatenate([right for _, right in found]).mean())
            out[name] = Agreement(len(rows), right, float((1 / sizes[rows]).mean()), loss)
        return out

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs of the learner."""
        states = [optimiser.state_dict() for optimiser in self.optimisers]
        return super().state_dict() | {"optimisers": states, "seen": self.seen}

    def load_state_dict(self, data: dict[str, Any]) -> None:
        """Go on from `state_dict`."""
        super().load_state_dict(data)
        for optimiser, state in zip(self.optimisers, data["optimisers"], strict=True):
            optimiser.load_state_dict(state)
        self.seen = data["seen"]


# -------------------------------------------------------------------------------------------- run


class BC(Run):
    """Learns from kept games.

    Args:
        lessons: the choices.
        config: of the algorithm.
        settings: of the run.
        resumed: the checkpoint to go on with, or nothing.
        begin: a checkpoint whose weights to begin with, or nothing.
    """

    algo = "bc"
    agent = "ppo"

    def __init__(
        self,
        lessons: Lessons,
        config: BCConfig,
        settings: RunSettings,
        resumed: dict[str, Any],
        begin: dict[str, Any],
    ) -> None:
        self.lessons, self.held_out = lessons, {}
        cloner = Cloner(config, net_names(settings.rooms), settings.seed, settings.device)
        super().__init__(config, settings, resumed, begin, cloner)
        learned, held = lessons.learned.size, lessons.held_out.size
        self.report.say(
            f"{lessons.deals:,} deals: {learned:,} choices to learn from, {held:,} held out"
        )

    def players(self) -> tuple[Actors, Policies]:
        """The processes that play evaluations; this one too."""
        arguments = (
            self.config.net, self.settings.rooms, 1, 0.0, self.weights, self.averages, [],
            self.key(),
        )  # fmt: skip
        return Actors(self.config.workers - 1, Policies, arguments, 1, 1), Policies(*arguments, 0)

    def header(self) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        return header(self.settings.rooms, self.config.net, "imitation") | {
            "replays": [str(path) for path in self.settings.replays],
            "digest": self.lessons.digest,
        }

    def counts(self) -> dict[str, int]:
        """Choices that were learned from so far, and the deals of the files."""
        return {"decisions": self.learner.seen, "games": self.lessons.deals}

    def step(self, done: float) -> dict[str, float]:
        """One update."""
        lr = self.config.lr * (1 + (self.config.lr_end - 1) * done)
        self.learner.update(self.lessons.learned, lr)
        return {"learning_rate": lr}

    def _evaluate(self) -> None:
        """Measure agreement on what was held out, and play."""
        self.held_out = self.learner.agreement(self.lessons.held_out)
        shown = [f"{found.accuracy:.3f} {name}" for name, found in self.held_out.items()]
        self.report.say("agreement on held-out choices: " + (" / ".join(shown) or "none held out"))
        for name, found in self.held_out.items():
            for key in ("accuracy", "loss"):
                tag = f"held_out/{key}_{name}"
                self.report.writer.add_scalar(tag, getattr(found, key), self.learner.updates)
        super()._evaluate()

    def facts(self) -> dict[str, Any]:
        """What the summary says beside the evaluation."""
        return {"held_out": {name: found._asdict() for name, found in self.held_out.items()}}

    def _close(self) -> None:
        if not self.halted and self.held_out:
            self.report.progress.stop()
            self.report.console.print(agreement_table(self.held_out))
        super()._close()


def agreement_table(held_out: dict[str, Agreement]) -> Table:
    """What is printed of the agreement on held-out choices."""
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, title="held-out choices", title_justify="left")
    for column in ("network", "choices", "agreement", "by chance", "cross-entropy"):
        grid.add_column(column, justify="left" if column == "network" else "right")
    for name, a in held_out.items():
        row = f"{a.choices:,}", f"{a.accuracy:.3f}", f"{a.by_chance:.3f}", f"{a.loss:.3f}"
        grid.add_row(name, *row)
    return grid


def read_lessons(config: BCConfig, settings: RunSettings, resume: bool) -> Lessons:
    """The choices of the files of a run.

    Raises:
        DdzError: as `lessons.read`; a checkpoint that can't be gone on with.
    """
    former = read_checkpoint(settings.out / "last.pt") if resume else {}
    return read(config, settings, former.get("digest", ""))


def run(
    config: BCConfig, settings: RunSettings, resume: bool, begin: Path | None, lessons: Lessons
) -> None:
    """Learn from `lessons`: `run.run_here`."""
    run_here(partial(BC, lessons), read_checkpoint, config, settings, resume, begin)
