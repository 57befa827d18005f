"""Proximal policy optimisation by self-play, over the listed legal actions.

Algorithm (Schulman et al. 2017): play whole games by drawing each choice from the policy; estimate
how much better than expected each choice turned out (generalised advantage estimation over the
choices of one seat in one game, with the reward at its end); improve the policy by a clipped step,
some times over the same games. The policy is a softmax over the listed actions of a choice, scored
like those of DMC (`agents/ppo.py`): never over all 27,000. Forced choices and certain wins are
neither drawn nor learned from. Opponents are the current policy, or with probability `--ppo.league`
an earlier one that takes one side of the game.

The reward is 1 or -1 for a deal won or lost; in rooms with calling, where what a deal brings
depends on calls, doubles and bombs, it is the sign of the points times log2(1 + |points|), which
stays finite with any number of bombs (`--ppo.objective`).

One process learns; the others play the games of the next step meanwhile. With `--deterministic` all
play first, then one learns.

Command: `python train/selfplay.py --algo ppo --rules play_only --minutes 30 --seed 1 --out runs/p`.
Result to expect on two cores: docs/training.md.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numba import types
from torch import Tensor, nn

from agents.dmc_net import NetConfig
from agents.inputs import pieces
from agents.ppo import header, make_nets, read_checkpoint
from agents.role_agent import net_names
from ddz_env._jit import njit
from ddz_env.listed import Bits
from eval.figures import MatchResult
from train.actors import Actors, Weights
from train.averaged import Averaged
from train.common import RunSettings
from train.critic import HandsNet
from train.policies import Policies
from train.rewards import by_points, reward_of
from train.rollouts import Rollout, join, score_rows, take_bits
from train.run import Run, run_here
from train.samples import hands_of

MOST_LISTED = 65536
"""Listed actions in a gradient, which bounds memory; or those of one choice."""


@dataclass(frozen=True)
class PPOConfig:
    """Settings of the algorithm."""

    workers: int = 2
    """Processes: one learns, the others play. One for each core."""
    games: int = 384
    """Games in flight in each process."""
    batch: int = 16384
    """Choices that are played for a step, at least."""
    minibatch: int = 2048
    """Choices of a network in a gradient."""
    epochs: int = 2
    """Times that a step goes through its choices."""
    lr: float = 5e-4
    """Learning rate of Adam at the start."""
    lr_end: float = 0.05
    """Share of the learning rate that is left at the end; it falls linearly."""
    clip: float = 0.2
    """How far the probability of a choice may move in a step, as a ratio to 1."""
    entropy: float = 0.01
    """Weight of the policy's entropy at the start."""
    entropy_end: float = 0.001
    """The same at the end."""
    value_weight: float = 0.5
    """Weight of the loss of the value."""
    gamma: float = 1.0
    """Discount of the reward for each choice of the seat that lies between."""
    gae_lambda: float = 0.95
    """How far advantages look ahead: 0 to the next choice, 1 to the end."""
    max_norm: float = 0.5
    """Gradients are cut to this norm."""
    critic: int = 0
    """Width of a value network that sees all hands in training; 0: the policy's own value."""
    league: float = 0.0
    """Share of the games in which an earlier policy takes one side."""
    league_every: int = 50
    """Steps between two policies of the league."""
    league_size: int = 4
    """Policies of the league; the oldest leaves."""
    average: float = 0.9
    """Weight of the former average when new weights are averaged in."""
    average_every: int = 1
    """Steps between two averagings."""
    objective: str = "auto"
    """Reward: wp, points, or auto: wp where nobody calls, else points."""
    restart_every: int = 20
    """Steps after which games begin anew with --deterministic."""
    net: NetConfig = field(default_factory=NetConfig)
    """Sizes of the networks."""


# ------------------------------------------------------------------------------ pure functions


def schedule(config: PPOConfig, done: float) -> dict[str, float]:
    """Learning rate and weight of the entropy when a share `done` of the run is over."""
    return {
        "learning_rate": config.lr * (1 + (config.lr_end - 1) * done),
        "entropy": config.entropy + (config.entropy_end - config.entropy) * done,
    }


_FLOATS = types.float32[::1]


@njit([types.void(_FLOATS, types.int64[::1], _FLOATS, types.float64, types.float64, _FLOATS)])
def gae(values, episodes, rewards, gamma, lam, out):
    """Advantages of choices by generalised advantage estimation.

    Args:
        values: expected reward before each choice, float32[n].
        episodes: first choice of each episode, and n: int64[E + 1].
        rewards: at the end of each episode, float32[E].
        gamma: discount of a choice.
        lam: 0 looks at the next value alone, 1 at the end alone.
        out: float32[n].
    """
    for e in range(rewards.shape[0]):
        ahead, after = 0.0, np.float64(rewards[e])
        first = True
        for i in range(episodes[e + 1] - 1, episodes[e] - 1, -1):
            delta = (after if first else gamma * after) - values[i]
            ahead = delta + (0.0 if first else gamma * lam * ahead)
            out[i] = ahead
            after, first = np.float64(values[i]), False


def log_softmax(logits: Tensor, row: Tensor, rows: int) -> Tensor:
    """Logarithms of the softmax of each list.

    Args:
        logits: of all actions, `float32[A]`.
        row: the list of each, ascending, `int64[A]`.
        rows: number of lists.
    """
    top = torch.full((rows,), -torch.inf, device=logits.device)
    top = top.scatter_reduce(0, row, logits.detach(), "amax")
    shifted = logits - top[row]
    total = torch.zeros(rows, device=logits.device).index_add(0, row, shifted.exp())
    return shifted - total.log()[row]


def clipped_loss(log_chance: Tensor, before: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """PPO's loss of the policy, `float32[n]`.

    Args:
        log_chance: logarithm of the probability of each choice now, `float32[n]`.
        before: the same when it was made.
        advantage: of each choice.
        clip: how far the ratio of both may move.
    """
    ratio = (log_chance - before).exp()
    return -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


def minibatches(order: np.ndarray, offsets: np.ndarray, size: int) -> list[np.ndarray]:
    """Cut choices into runs of about equal size with at most `MOST_LISTED` actions, or one choice.

    Args:
        order: the choices, `int64[n]`.
        offsets: of the actions of all choices.
        size: choices of a run.
    """
    out = []
    for part in np.array_split(order, max(1, round(len(order) / size))):
        sums = np.concatenate([[0], np.cumsum(np.diff(offsets)[part])])
        out += [part[begin:end] for begin, end in pieces(sums, MOST_LISTED)]
    return out


# -------------------------------------------------------------------------------------- learner


class Learner(Averaged):
    """The networks, their average and optimisers."""

    def __init__(
        self, config: PPOConfig, names: tuple[str, ...], seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(config, names, seed, device, make_nets)
        width = config.critic
        self.critics = nn.ModuleList(
            HandsNet(width, config.net) for _ in (names if width else ())
        ).to(self.device)
        self.optimisers = [
            torch.optim.Adam([p for p in part if p.requires_grad], lr=config.lr, fused=True)
            for part in map(self._parameters, range(len(names)))
        ]

    def _parameters(self, k: int) -> list[nn.Parameter]:
        own = list(self.nets[k].parameters())
        return own + (list(self.critics[k].parameters()) if self.config.critic else [])

    def value(self, k: int, state: Bits, hands: np.ndarray, embedded: Tensor) -> Tensor:
        """The reward that network k expects, by its critic if there is one: `float32[n]`."""
        if not self.config.critic:
            return self.nets[k].value_of(embedded)  # type: ignore[operator]
        return self.critics[k](state, hands_of(hands), embedded)

    @torch.no_grad()
    def values(self, rollout: Rollout) -> np.ndarray:
        """The reward that was expected before each choice, `float32[n]`."""
        out = np.zeros(rollout.size, np.float32)
        for k, net in enumerate(self.nets):
            rows = np.flatnonzero(rollout.choices["net"] == k)
            for part in np.split(rows, range(8192, len(rows), 8192)):
                if len(part):
                    state = take_bits(rollout.state, part)
                    hands = rollout.choices["hands"][part]
                    value = self.value(k, state, hands, net.embed(state))  # type: ignore[operator]
                    out[part] = value.cpu().numpy()
        return out

    def update(self, rollout: Rollout, rewards: np.ndarray, schedules: dict[str, float]) -> None:
        """One step: some epochs over a rollout.

        Args:
            rollout: whole games.
            rewards: of its episodes, `float32[E]`.
            schedules: `learning_rate` and `entropy`.
        """
        config = self.config
        values, advantage = self.values(rollout), np.zeros(rollout.size, np.float32)
        gae(values, rollout.episodes, rewards, config.gamma, config.gae_lambda, advantage)
        target = values + advantage
        rng = np.random.default_rng([self.seed, self.updates])
        for k, name in enumerate(self.names):
            rows = np.flatnonzero(rollout.choices["net"] == k)
            if not len(rows):
                continue
            for group in self.optimisers[k].param_groups:
                group["lr"] = schedules["learning_rate"]
            for _ in range(config.epochs):
                order = rng.permutation(rows)
                for part in minibatches(order, rollout.lists.offsets, config.minibatch):
                    found = self._gradient(k, rollout, part, advantage, target, schedules)
                    self.metrics |= {f"{key}_{name}": value for key, value in found.items()}
            spread = float(np.var(target[rows]))
            known = 1 - float(np.var(target[rows] - values[rows])) / max(spread, 1e-9)
            self.metrics[f"value/explained_{name}"] = known
        self.updated()

    def _gradient(
        self,
        k: int,
        rollout: Rollout,
        rows: np.ndarray,
        advantage: np.ndarray,
        target: np.ndarray,
        schedules: dict[str, float],
    ) -> dict[str, float]:
        """One gradient of network k on some choices; what is logged of it."""
        config, net, to = self.config, self.nets[k], self.device
        choices = rollout.choices[rows]
        found = score_rows(net, rollout, rows, to)
        log_chances = log_softmax(found.logits, found.row, len(rows))
        chosen = torch.from_numpy(found.begins[:-1] + choices["chosen"]).to(to)
        log_chance = log_chances[chosen]  # [n]
        before = torch.from_numpy(choices["log_chance"].copy()).to(to)
        gain = torch.from_numpy(advantage[rows]).to(to)
        gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-6)
        policy = clipped_loss(log_chance, before, gain, config.clip).mean()
        entropy = -(log_chances.exp() * log_chances).sum() / len(rows)
        expected = self.value(k, found.state, choices["hands"], found.embedded)
        value = (expected - torch.from_numpy(target[rows]).to(to)).square().mean()
        loss = policy + config.value_weight * value - schedules["entropy"] * entropy
        self.optimisers[k].zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters(k), config.max_norm)
        self.optimisers[k].step()
        with torch.no_grad():
            ratio = (log_chance - before).exp()
            return {
                "loss/policy": policy.item(),
                "loss/value": value.item(),
                "policy/entropy": entropy.item(),
                "policy/kl": (ratio - 1 - (log_chance - before)).mean().item(),
                "policy/clipped": ((ratio - 1).abs() > config.clip).float().mean().item(),
            }

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs of the learner."""
        return super().state_dict() | {
            "critics": self.critics.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }

    def load_state_dict(self, data: dict[str, Any]) -> None:
        """Go on from `state_dict`."""
        super().load_state_dict(data)
        self.critics.load_state_dict(data["critics"])
        for optimiser, state in zip(self.optimisers, data["optimisers"], strict=True):
            optimiser.load_state_dict(state)


# ------------------------------------------------------------------------------------------ run


class PPO(Run):
    """Plays whole games and learns from them.

    Args:
        config: of the algorithm.
        settings: of the run.
        resumed: the checkpoint to go on with, or nothing.
        begin: a checkpoint whose weights to begin with, or nothing.
    """

    algo = "ppo"

    def __init__(
        self,
        config: PPOConfig,
        settings: RunSettings,
        resumed: dict[str, Any],
        begin: dict[str, Any],
    ) -> None:
        learner = Learner(config, net_names(settings.rooms), settings.seed, settings.device)
        size = config.league_size if config.league else 0
        self.league = [Weights(learner.nets) for _ in range(size)]
        self._asked = False
        self._played: list[Rollout] = []
        super().__init__(config, settings, resumed, begin, learner)

    def players(self) -> tuple[Actors, Policies]:
        """The processes that play, and what plays in this one."""
        arguments = (
            self.config.net, self.settings.rooms, self.config.games, self.config.league,
            self.weights, self.averages, self.league, self.key(),
        )  # fmt: skip
        return Actors(self.config.workers - 1, Policies, arguments, 1, 1), Policies(*arguments, 0)

    def header(self) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        objective = "points" if by_points(self.config.objective, self.settings.rooms) else "wp"
        return header(self.settings.rooms, self.config.net, objective)

    def step(self, done: float) -> dict[str, float]:
        """Play a rollout, and learn from it."""
        schedules = schedule(self.config, done)
        rollout = self._gather()
        if not self.halted:
            points = by_points(self.config.objective, self.settings.rooms)
            self.learner.update(rollout, reward_of(rollout.points, points), schedules)
            if self.league and self.learner.updates % self.config.league_every == 0:
                turn = self.learner.updates // self.config.league_every - 1
                self.league[turn % len(self.league)].publish(self.learner.nets)
        return schedules

    def _gather(self) -> Rollout:
        """The games of a step; the next ones are begun, unless a run is to be deterministic."""
        others = len(self.actors)
        if self.settings.deterministic or not others:
            share = self.config.batch / (others + 1)
            self.actors.ask([share] * others)
            return join([self.own.roll(int(share)), *self._answers()])
        if not self._played:
            if not self._asked:
                self._ask()
            self._played = self._answers()
        parts, self._played = self._played, []
        self._ask()
        return join(parts)

    def _ask(self) -> None:
        others = len(self.actors)
        self.actors.ask([self.config.batch / others] * others)
        self._asked = True

    def _answers(self) -> list[Rollout]:
        """The rollouts of the others, whose counts are noted."""
        answers = self.actors.answers()
        self._asked = False
        self.actors.counts = [counts for _, counts in answers]
        return [rollout for rollout, _ in answers]

    def matches(self, final: bool) -> dict[str, MatchResult]:
        """Duplicate matches of the averaged player, once the others have played what was asked."""
        if self._asked:
            self._played = self._answers()
        return super().matches(final)


def run(config: PPOConfig, settings: RunSettings, resume: bool, begin: Path | None) -> None:
    """Train in `config.workers` processes: `run.run_here`."""
    run_here(PPO, read_checkpoint, config, settings, resume, begin)
