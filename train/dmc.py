"""Deep Monte-Carlo self-play: the chance of winning of every listed play, learned from whole games.

Algorithm (after DouZero, Zha et al. 2021): play games with the current networks, mostly the play
with the highest value, sometimes a random one; when a game ends, every choice made in it becomes a
sample whose target is whether its side won; fit the network of its role to the targets by binary
cross-entropy. No bootstrapping. Different from DouZero: the network reads the state once and then
scores each listed play (agents/dmc.py); games advance in one batch; decisions without a choice are
neither evaluated nor learned from; samples wait in a window and are drawn at random from it, which
breaks up the games they come from; an average of the weights is what plays in evaluations.

Workers are processes that each play and learn, and add up their gradients at every update
(torch.distributed, gloo), so all hold the same weights and a run is a function of its seed.

Command: `python train/selfplay.py --algo dmc --rules play_only --minutes 10 --seed 1 --out runs/x`.
Result to expect on two cores after 10 minutes: docs/training.md.
"""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numba import types
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from agents.dmc import (
    ROLES,
    DMCAgent,
    NetConfig,
    best_of,
    header,
    make_nets,
    read_checkpoint,
)
from ddz_env._jit import njit, records
from ddz_env.bots import GreedyBot
from ddz_env.catalogue import TABLES
from ddz_env.features import MAX_ACTION_BITS, MAX_STATE_BITS
from ddz_env.moves import T_IDS, T_INT
from ddz_env.rules import RuleSet
from ddz_env.state import MAX_HISTORY, Phase
from ddz_env.vector import T_ROWS, T_STATES, Bits, Legal, VecEnv, encode_actions, encode_states
from ddz_env.view import VIEW
from train.common import (
    FINAL_SEED,
    OPPONENTS,
    Clock,
    RunSettings,
    evaluate,
    save_checkpoint,
)
from train.processes import exit_without_parent, rank_and_world, run_workers
from train.report import Report
from train.samples import Window, store

_PLAY, _FILL = int(Phase.PLAY), int(Phase.FILL)


@dataclass(frozen=True)
class DMCConfig:
    """Settings of the algorithm."""

    workers: int = 2
    """Processes that play and learn; one for each core."""
    games: int = 768
    """Games in flight in each worker."""
    batch: int = 1024
    """Samples of each role in an update, from each worker."""
    window: int = 16384
    """Finished samples of each role, in each worker, that updates draw from."""
    lr: float = 7e-4
    """Learning rate of Adam at the start."""
    lr_end: float = 0.03
    """Share of the learning rate that is left at the end; it falls linearly."""
    explore: float = 0.05
    """Chance of a random choice at the start."""
    explore_end: float = 0.01
    """Chance of a random choice from 70% of the run on."""
    average: float = 0.97
    """Weight of the former average when new weights are averaged in."""
    average_every: int = 10
    """Updates between two averagings."""
    net: NetConfig = field(default_factory=NetConfig)
    """Sizes of the networks."""


def schedule(config: DMCConfig, done: float) -> tuple[float, float]:
    """(learning rate, chance of a random choice) when a share `done` of the run is over."""
    lr = config.lr * (1 + (config.lr_end - 1) * done)
    explore = config.explore + (config.explore_end - config.explore) * min(1.0, done / 0.7)
    return lr, explore


def targets(winner_is_landlord: bool) -> tuple[float, float, float]:
    """The target of every sample of a game, by role: 1 for the winning side, 0 for the other."""
    return (1.0, 0.0, 0.0) if winner_is_landlord else (0.0, 1.0, 1.0)


# ---------------------------------------------------------------------------------- collecting


@njit([types.int64(T_STATES, types.int64[::1], T_IDS, T_INT, T_ROWS, T_ROWS, T_IDS)])
def choices_of_role(states, offsets, ids, role, rows, out_offsets, out_ids):
    """The rows whose seat on turn has the role and a choice, with their lists; their number."""
    n, m = 0, 0
    for i in range(states.shape[0]):
        state = states[i]
        if (state.phase != _PLAY and state.phase != _FILL) or (
            state.turn - state.landlord + 3
        ) % 3 != role:
            continue
        if offsets[i + 1] - offsets[i] < 2:
            continue
        for j in range(offsets[i], offsets[i + 1]):
            out_ids[m] = ids[j]
            m += 1
        rows[n] = i
        n += 1
        out_offsets[n] = m
    return n


class Collector:
    """Plays a batch of games with the networks and turns finished games into samples."""

    def __init__(
        self, config: DMCConfig, rules: RuleSet, seed: int, rng: np.random.Generator
    ) -> None:
        n = config.games
        self.env = VecEnv(n, rules, seed)
        self.rng = rng
        self.windows = [Window(config.window) for _ in ROLES]
        self.greedy = GreedyBot()
        self.decisions = 0
        self.games = 0
        self.landlord_wins = 0
        # Samples of unfinished games: MAX_CHOICES slots a game, filled in order.
        self._state = np.zeros((n * MAX_HISTORY, 1 + MAX_STATE_BITS), np.uint16)
        self._action = np.zeros((n * MAX_HISTORY, 1 + MAX_ACTION_BITS), np.uint16)
        self._role = np.zeros((n, MAX_HISTORY), np.int8)
        self._count = np.zeros(n, np.int64)
        self._landlord = np.zeros(n, np.int64)
        self._scratch = records(VIEW, 1)
        self._rows = np.zeros(n, np.int64)
        self._offsets = np.zeros(n + 1, np.int64)
        self._state_offsets = np.zeros(n + 1, np.int64)
        self._state_bits = np.zeros(n * MAX_STATE_BITS, np.uint16)

    def step(self, nets: nn.ModuleList, explore: float) -> None:
        """One decision in every game."""
        env = self.env
        legal = env.legal()
        actions = legal.ids[legal.offsets[:-1]].astype(np.int64)
        self._call(legal, actions)
        for role, net in enumerate(nets):
            self._choose(role, net, legal, explore, actions)
        self._landlord[:] = env.states["landlord"]
        done = env.step(actions)
        self.decisions += len(actions)
        for i in np.flatnonzero(done):
            self._finish(i)

    def _call(self, legal: Legal, actions: np.ndarray) -> None:
        """Let `greedy` decide what is not card play."""
        rows = np.flatnonzero(~np.isin(self.env.states["phase"], (_PLAY, _FILL)))
        if len(rows):
            actions[rows] = self.greedy.act(self.env.views(rows), legal.take(rows))

    def _choose(
        self, role: int, net: Any, legal: Legal, explore: float, actions: np.ndarray
    ) -> None:
        """Choose for all seats of a role that have a choice, and keep the samples."""
        env, ids = self.env, np.empty_like(legal.ids)
        n = choices_of_role(
            env.states, legal.offsets, legal.ids, role, self._rows, self._offsets, ids
        )
        if n == 0:
            return
        rows, offsets = self._rows[:n], self._offsets[: n + 1]
        encode_states(
            env.states, rows, env.params, TABLES, self._scratch, self._state_offsets,
            self._state_bits,
        )  # fmt: skip
        n_actions = int(offsets[-1])
        action_offsets = np.zeros(n_actions + 1, np.int64)
        action_bits = np.empty(n_actions * MAX_ACTION_BITS, np.uint16)
        hands = env.states["hands"][rows, env.states["turn"][rows]]
        encode_actions(hands, offsets, ids, TABLES, action_offsets, action_bits)
        state_offsets = self._state_offsets[: n + 1]
        values = net.score_lists(
            state_offsets, self._state_bits, offsets, action_offsets, action_bits
        )
        chosen = best_of(offsets, values.numpy())
        random = self.rng.random(n)
        other = offsets[:-1] + (self.rng.random(n) * np.diff(offsets)).astype(np.int64)
        chosen = np.where(random < explore, other, chosen)
        actions[rows] = ids[chosen]
        slots = rows * MAX_HISTORY + self._count[rows]
        store(self._state, slots, state_offsets, self._state_bits, np.arange(n))
        store(self._action, slots, action_offsets, action_bits, chosen)
        self._role[rows, self._count[rows]] = role
        self._count[rows] += 1

    def _finish(self, i: int) -> None:
        """Move the samples of a finished game to the windows of their roles."""
        n = int(self._count[i])
        self._count[i] = 0
        landlord_won = self.env.scores[i, self._landlord[i]] > 0
        self.games += 1
        self.landlord_wins += int(landlord_won)
        first = i * MAX_HISTORY
        for role, target in enumerate(targets(landlord_won)):
            index = first + np.flatnonzero(self._role[i, :n] == role)
            self.windows[role].add(self._state[index], self._action[index], target)


# ------------------------------------------------------------------------------------ learning


def loss_of(net: Any, batch: tuple[Bits, Bits, Tensor]) -> Tensor:
    """Binary cross-entropy of the chosen actions' logits against the targets."""
    (state_offsets, state_bits), (action_offsets, action_bits), target = batch
    logits = net.score(net.embed(state_offsets, state_bits), action_offsets, action_bits)
    return binary_cross_entropy_with_logits(logits, target)


class Learner:
    """The networks, their average and the optimiser; the same in every worker."""

    def __init__(self, config: DMCConfig, seed: int) -> None:
        torch.manual_seed(seed)
        self.config = config
        self.nets = make_nets(config.net)
        self.average = make_nets(config.net)
        self.average.load_state_dict(self.nets.state_dict())
        self.optimiser = torch.optim.Adam(self.nets.parameters(), lr=config.lr, fused=True)
        self.updates = 0

    def update(self, batches: list[tuple[Bits, Bits, Tensor]], lr: float) -> list[float]:
        """One step on a batch of each role; the losses of this worker by role."""
        self.optimiser.zero_grad(set_to_none=True)
        losses = []
        for net, batch in zip(self.nets, batches, strict=True):
            loss = loss_of(net, batch)
            loss.backward()
            losses.append(loss.item())
        self._add_up_gradients()
        for group in self.optimiser.param_groups:
            group["lr"] = lr
        self.optimiser.step()
        self.updates += 1
        if self.updates % self.config.average_every == 0:
            self._average()
        return losses

    def _add_up_gradients(self) -> None:
        """The mean of the workers' gradients, in one message."""
        if not dist.is_initialized():
            return
        grads = [p.grad for p in self.nets.parameters()]
        flat = torch.cat([g.reshape(-1) for g in grads])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        for g, part in zip(grads, flat.split([g.numel() for g in grads]), strict=True):
            g.copy_(part.view_as(g))

    @torch.no_grad()
    def _average(self) -> None:
        """Average the weights in; young averages forget faster."""
        n = self.updates // self.config.average_every
        keep = min(self.config.average, n / (n + 10))
        for mean, new in zip(self.average.parameters(), self.nets.parameters(), strict=True):
            mean.lerp_(new, 1 - keep)

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs of the learner."""
        return {
            "nets": self.nets.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "updates": self.updates,
        }

    def load_state_dict(self, data: dict[str, Any]) -> None:
        """Go on from `state_dict`."""
        self.nets.load_state_dict(data["nets"])
        self.average.load_state_dict(data["average"])
        self.optimiser.load_state_dict(data["optimiser"])
        self.updates = data["updates"]


# ----------------------------------------------------------------------------------------- main


class Worker:
    """One process of a run: collects, learns, and as worker 0 reports, evaluates and saves."""

    def __init__(self, config: DMCConfig, settings: RunSettings, resumed: dict[str, Any]) -> None:
        self.config, self.settings = config, settings
        self.rank, self.world = rank_and_world()
        self.learner = Learner(config, settings.seed)
        elapsed, part = 0.0, 0
        self.best = 0.0
        self.history: list[dict[str, Any]] = []
        if resumed:
            self.learner.load_state_dict(resumed["learner"])
            elapsed, part = resumed["elapsed"], resumed["part"] + 1
            self.best, self.history = resumed["best"], resumed["history"]
        self.part = part
        """How often the run has been resumed; every part plays other games."""
        self.past = (resumed.get("decisions", 0), resumed.get("games", 0))
        self.clock = Clock(settings, elapsed)
        seed = settings.seed * 1_000_003 + part * 1009 + self.rank
        self.rng = np.random.default_rng(seed)
        self.collector = Collector(config, settings.rules, seed, self.rng)
        self.report = Report(settings) if self.rank == 0 else None

    def agent(self) -> DMCAgent:
        """The player that is evaluated: the averaged weights."""
        return DMCAgent(self.learner.average, self.settings.rules)

    def run(self, stop: Any) -> None:
        """Train until the end, or until `stop` is set; then save."""
        parent = os.getppid()
        first = self.learner.updates
        while True:
            exit_without_parent(parent)
            done, halt, evaluating = self._agree(stop)
            if evaluating or halt or done >= 1:
                self._evaluate()
            if halt or done >= 1:
                break
            lr, explore = schedule(self.config, done)
            needed = self.config.batch * (self.learner.updates - first + 1)
            while min(w.added for w in self.collector.windows) < needed:
                self.collector.step(self.learner.nets, explore)
            batches = [w.draw(self.config.batch, self.rng) for w in self.collector.windows]
            losses = self.learner.update(batches, lr)
            if self.report is not None:
                self.report.update(self, done, losses, lr, explore)
        self._close(completed=done >= 1)

    def _agree(self, stop: Any) -> tuple[float, bool, bool]:
        """(share done, whether to halt, whether to evaluate), as worker 0 sees it."""
        word = torch.zeros(3, dtype=torch.float64)
        if self.rank == 0:
            word[0] = self.clock.done(self.learner.updates)
            word[1] = float(stop.is_set())
            word[2] = float(self.clock.evaluation_due())
        if self.world > 1:
            dist.broadcast(word, 0)
        return float(word[0]), bool(word[1]), bool(word[2])

    def totals(self) -> tuple[int, int]:
        """Decisions and games of all workers and parts (worker 0's, times the workers)."""
        c = self.collector
        return self.past[0] + self.world * c.decisions, self.past[1] + self.world * c.games

    def _evaluate(self) -> None:
        """Evaluate on the way, note the result, save."""
        settings = self.settings
        results = evaluate(
            self.agent(), OPPONENTS[1:], settings.rules, settings.eval_deals, settings.seed
        )
        if self.report is None:
            return
        point = {
            "minutes": round(self.clock.elapsed / 60, 2),
            "updates": self.learner.updates,
            "decisions": self.totals()[0],
            **{name: round(r.wp, 4) for name, r in results.items()},
        }
        self.history.append(point)
        self.report.evaluation(point, results)
        self._save(settings.out / "last.pt")
        mean = float(np.mean([r.wp for r in results.values()]))
        if mean >= self.best:
            self.best = mean
            self._save(settings.out / "best.pt")

    def _save(self, path: Path) -> None:
        """Write a checkpoint: what plays, and what a resumed run needs."""
        decisions, games = self.totals()
        data = header(self.settings.rules, self.config.net) | {
            "average": self.learner.average.state_dict(),
            "learner": self.learner.state_dict(),
            "config": asdict(self.config),
            "seed": self.settings.seed,
            "elapsed": self.clock.elapsed,
            "part": self.part,
            "best": self.best,
            "history": self.history,
            "decisions": decisions,
            "games": games,
        }
        save_checkpoint(path, data)

    def _close(self, completed: bool) -> None:
        """The closing evaluation of a completed run; a stopped one says how to go on."""
        if not completed:
            if self.report is not None:
                self.report.stopped()
            return
        settings = self.settings
        if self.report is not None:
            self.report.closing()
        results = evaluate(
            self.agent(), OPPONENTS, settings.rules, settings.final_deals, FINAL_SEED
        )
        if self.report is not None:
            self.report.close(self, results)


def work(stop: Any, config: DMCConfig, settings: RunSettings, resume: bool) -> None:
    """The body of a worker process."""
    resumed = read_checkpoint(settings.out / "last.pt") if resume else {}
    Worker(config, settings, resumed).run(stop)


def run(config: DMCConfig, settings: RunSettings, resume: bool) -> None:
    """Train in `config.workers` processes; returns when the run has ended or was stopped.

    Raises:
        torch.multiprocessing.ProcessException: a worker died; the others have been ended.
    """
    arguments = (config, settings, resume)
    run_workers(work, arguments, config.workers, settings.deterministic)
