"""What DMC learns with: its settings, the losses, the networks with their average and optimiser."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from agents.dmc_net import NetConfig, make_nets, size_of
from ddz_env.features import CARDS
from train.averaged import Averaged
from train.critic import belief_loss, make_critics
from train.samples import Batch, results_of

MOST_RATIO = 8.0
"""Points seen over points expected count as this at most in a gradient: one deal of seven bombs
must not undo what a thousand others taught."""
CALIBRATION_BINS = 10


@dataclass(frozen=True)
class DMCConfig:
    """Settings of the algorithm."""

    workers: int = 2
    """Processes: one learns and plays, the others play. One for each core."""
    games: int = 768
    """Games in flight in each process."""
    batch: int = 2048
    """Samples of each network in an update (a quarter of them of the choices before the play)."""
    window: int = 65536
    """Finished samples of each network that updates draw from."""
    reuse: float = 1.0
    """Times that a sample is drawn on average."""
    block: int = 2048
    """Samples that an actor hands over at a time."""
    lr: float = 7e-4
    """Learning rate of Adam at the start."""
    lr_end: float = 0.03
    """Share of the learning rate that is left at the end; it falls linearly."""
    explore: float = 0.05
    """Chance of a random choice at the start."""
    explore_end: float = 0.01
    """Chance of a random choice from 70% of the run on."""
    explore_calls: float = 0.25
    """Chance of a random choice before the play at the start; it falls to a fifth. Without it calls
    that are rarely made are never learned."""
    average: float = 0.97
    """Weight of the former average when new weights are averaged in."""
    average_every: int = 10
    """Updates between two averagings."""
    td_lambda: float = 0.7
    """What the chance of winning is learned from: 1 the result of the deal alone (Monte-Carlo);
    below, also what the network said when the seat chose next. A critic needs 1."""
    objective: str = "wp"
    """What the play goes by: wp, adp (points), or mixed: wp in the first half of the run, then adp.
    Choices before the play always go by points."""
    score_weight: float = 0.05
    """Weight of the loss of the points beside that of the chance of winning."""
    guests: str = ""
    """Agents that take one side of some games, with commas between: planner,greedy; none if empty.
    Nothing is learned from what they choose."""
    guest_games: float = 0.25
    """Share of the games that have a guest, where there are any."""
    forks: float = 0.0
    """Share of the games that begin as a copy of another one in the middle, by another action."""
    critic: int = 0
    """Width of the critics that see all hands in training and take out luck; 0 for none."""
    belief: float = 0.0
    """Weight of the loss of guessing the next seat's hand from the embedding; 0 for no guess."""
    restart_every: int = 200
    """Updates after which games begin anew with --deterministic."""
    net: NetConfig = field(default_factory=NetConfig)
    """Sizes of the networks."""

    @property
    def all_hands(self) -> bool:
        """Whether all hands are looked at in training."""
        return self.critic > 0 or self.belief > 0


def score_loss(log_points: Tensor, points: Tensor) -> Tensor:
    """Gamma deviance of points above 0 against their expectation `exp(log_points)`, `float32[n]`.

    Its gradient is 1 - points / expectation, with the ratio bounded by `MOST_RATIO`.
    """
    ratio = (points / log_points.exp()).clamp(max=MOST_RATIO).detach()
    slope = log_points * (1 - ratio)
    return slope - slope.detach() + log_points.detach() + ratio


class Losses(NamedTuple):
    """What a batch says of a network."""

    chance: Tensor
    """Cross-entropy of the chance of winning; against targets without luck if there is a critic."""
    points: Tensor
    """Gamma deviance of the points."""
    critic: Tensor | None
    predicted: Tensor
    """Chances of winning, `float32[n]`."""
    explained: float
    """Share of the spread of results that the critic takes away."""
    belief: Tensor | None
    """Cross-entropy of the guess of the next seat's hand."""


def losses_of(
    net: nn.Module,
    batch: Batch,
    device: torch.device,
    critic: nn.Module | None = None,
    guesser: nn.Module | None = None,
) -> Losses:
    """Losses of a batch, and the chances it predicts."""
    points = batch.points.to(device)
    embedded = net.embed(batch.state)
    out = net.score(embedded, batch.actions, batch.facts.to(device))  # [n, 3]
    won = points > 0
    # A deal that nobody played counts as half won, and says nothing of the points.
    target, extra, explained = batch.target.to(device), None, 0.0
    if critic is not None:
        luck = critic.luck(batch.state, batch.hands, embedded, results_of(points))
        target, extra = target + luck.adjustment, luck.loss
    chance = binary_cross_entropy_with_logits(out[:, 0], target)
    expected = torch.where(won, out[:, 1], out[:, 2])
    loss = (score_loss(expected, points.abs()) * (points != 0)).mean()
    predicted = out[:, 0].detach().sigmoid()
    if critic is not None:
        spread = (results_of(points) - predicted).square().mean()
        explained = 1 - ((target - predicted).square().mean() / spread.clamp(min=1e-6)).item()
    belief = None if guesser is None else belief_loss(guesser, embedded, batch.hands)
    return Losses(chance, loss, extra, predicted, explained, belief)


def calibration_error(chance: np.ndarray, won: np.ndarray) -> float:
    """Mean distance between predicted and seen chance of winning, over `CALIBRATION_BINS` bins."""
    bins = np.minimum((chance * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    gaps = np.bincount(bins, won - chance, CALIBRATION_BINS)
    return float(np.abs(gaps).sum() / max(len(chance), 1))


class Learner(Averaged):
    """The networks, their average and the optimiser."""

    def __init__(
        self, config: DMCConfig, names: tuple[str, ...], seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(config, names, seed, device, make_nets)
        self.critics = make_critics(config.critic, config.net, names if config.critic else ())
        self.critics.to(self.device)
        learned = [p for p in self.nets.parameters() if p.requires_grad]
        self.guessers = nn.ModuleList(
            nn.Linear(size_of(config.net, name).embedded, CARDS)
            for name in (names if config.belief else ())
        ).to(self.device)
        learned += [*self.critics.parameters(), *self.guessers.parameters()]
        self.optimiser = torch.optim.Adam(learned, lr=config.lr, fused=True)

    def update(self, batches: list[Batch | None], lr: float) -> None:
        """One step on a batch of each network, None for one without samples yet."""
        self.optimiser.zero_grad(set_to_none=True)
        nobody = [None] * len(self.names)
        critics = self.critics if self.config.critic else nobody
        guessers = self.guessers if self.config.belief else nobody
        every = zip(self.names, self.nets, critics, guessers, batches, strict=True)
        for name, net, critic, guesser, batch in every:
            if batch is None:
                continue
            found = losses_of(net, batch, self.device, critic, guesser)
            loss = found.chance + self.config.score_weight * found.points
            if found.critic is not None:
                loss = loss + found.critic
                self.metrics[f"loss/critic_{name}"] = found.critic.item()
                self.metrics[f"critic/explained_{name}"] = found.explained
            if found.belief is not None:
                loss = loss + self.config.belief * found.belief
                self.metrics[f"loss/belief_{name}"] = found.belief.item()
            loss.backward()
            self.metrics[f"loss/chance_{name}"] = found.chance.item()
            self.metrics[f"loss/points_{name}"] = found.points.item()
            won = results_of(batch.points).numpy().astype(np.float64)
            error = calibration_error(found.predicted.cpu().numpy(), won)
            self.metrics[f"calibration/{name}"] = error
        for group in self.optimiser.param_groups:
            group["lr"] = lr
        self.optimiser.step()
        self.updated()

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs of the learner."""
        return super().state_dict() | {
            "critics": self.critics.state_dict(),
            "guessers": self.guessers.state_dict(),
            "optimiser": self.optimiser.state_dict(),
        }

    def load_state_dict(self, data: dict[str, Any]) -> None:
        """Go on from `state_dict`."""
        super().load_state_dict(data)
        self.critics.load_state_dict(data.get("critics", {}))
        self.guessers.load_state_dict(data.get("guessers", {}))
        self.optimiser.load_state_dict(data["optimiser"])
