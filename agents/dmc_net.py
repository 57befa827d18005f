"""The network of the Deep Monte-Carlo agent: the state once, then every listed action.

State bits -> `hidden` -> ReLU -> `state`; plus action bits and facts of the action -> `state`,
ReLU -> `head` -> ReLU -> three numbers: the logit of the chance of winning, and the logarithms of
the points expected in a deal that is won and in one that is lost. First layers read lists of ones
(sums of weight rows), so no dense observation is ever built. After DouZero (Zha et al. 2021), which
evaluates the whole network once for every legal action; `joint` comes near that, for comparisons.

Logarithms keep the points finite with any number of bombs; `exp` of them estimates the mean of the
points themselves (`train/dmc.py`, `score_loss`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numba import types
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from agents.inputs import FACTS, Inputs
from agents.role_agent import BEFORE
from ddz_env._jit import njit
from ddz_env.features import ACTION_SIZE, S_HISTORY, STATE_SIZE
from ddz_env.listed import Bits

OUTPUTS = ("chance", "won", "lost")
"""Outputs of a network, in order."""
FIRST_POINTS = 1.0
"""Logarithm of the points that a fresh network expects: about 3."""

_T_MATRIX, _T_OFFSETS, _T_BITS = types.float32[:, ::1], types.int64[::1], types.uint16[::1]


@njit([types.void(_T_OFFSETS, _T_BITS, _T_MATRIX, _T_MATRIX)], fastmath=True)
def sum_rows(offsets, bits, weight, out):
    """`out[i]` += the rows of `weight` named by `bits[offsets[i]:offsets[i + 1]]`."""
    width = weight.shape[1]
    for i in range(offsets.shape[0] - 1):
        row = out[i]
        k, end = offsets[i], offsets[i + 1]
        while k + 4 <= end:  # four at a time: the row is read and written a quarter as often
            a, b = weight[bits[k]], weight[bits[k + 1]]
            c, d = weight[bits[k + 2]], weight[bits[k + 3]]
            for j in range(width):
                row[j] += (a[j] + b[j]) + (c[j] + d[j])
            k += 4
        while k < end:
            a = weight[bits[k]]
            for j in range(width):
                row[j] += a[j]
            k += 1


@njit([types.void(_T_OFFSETS, _T_BITS, _T_MATRIX, _T_MATRIX)], fastmath=True)
def add_to_rows(offsets, bits, grad, out):
    """The transpose of `sum_rows`: add `grad[i]` to every row of `out` that sample i names."""
    width = grad.shape[1]
    for i in range(offsets.shape[0] - 1):
        g = grad[i]
        for k in range(offsets[i], offsets[i + 1]):
            row = out[bits[k]]
            for j in range(width):
                row[j] += g[j]


@njit([types.void(_T_OFFSETS, _T_MATRIX, _T_MATRIX)])
def repeat_rows(offsets, rows, out):
    """Copy `rows[i]` to `out[offsets[i] - offsets[0] : offsets[i + 1] - offsets[0]]`."""
    for i in range(rows.shape[0]):
        for k in range(offsets[i] - offsets[0], offsets[i + 1] - offsets[0]):
            out[k, :] = rows[i]


class _SumRows(torch.autograd.Function):
    """`sum_rows` with a gradient for the weight."""

    @staticmethod
    def forward(ctx: Any, offsets: np.ndarray, bits: np.ndarray, weight: Tensor) -> Tensor:
        out = torch.zeros(len(offsets) - 1, weight.shape[1])
        sum_rows(offsets, bits, weight.detach().numpy(), out.numpy())
        ctx.offsets, ctx.bits, ctx.rows = offsets, bits, weight.shape[0]
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor]:  # type: ignore[override]
        out = torch.zeros(ctx.rows, grad.shape[1])
        add_to_rows(ctx.offsets, ctx.bits, grad.contiguous().numpy(), out.numpy())
        return None, None, out


def sum_of_rows(lists: Bits, weight: Tensor) -> Tensor:
    """The sum of the rows of `weight` that each list names, `float32[B, width]`."""
    if weight.is_cuda:
        bits = torch.from_numpy(lists.bits[: lists.offsets[-1]].astype(np.int32)).to(weight.device)
        offsets = torch.from_numpy(lists.offsets[:-1].astype(np.int32)).to(weight.device)
        return embedding_bag(bits, weight, offsets, mode="sum")
    return _SumRows.apply(lists.offsets, lists.bits, weight)


@dataclass(frozen=True)
class NetConfig:
    """Sizes of a network."""

    hidden: int = 512
    """Width of the first layer."""
    state: int = 256
    """Width of the second layer."""
    head: int = 128
    """Width of the third layer."""
    facts: bool = True
    """Whether it reads the planner's facts of each action."""
    history: bool = True
    """Whether it reads the last decisions of the play, besides what has been played."""
    joint: bool = False
    """Add action and facts to the first layer instead of the second, so that all layers above read
    both and run for every listed action."""

    @property
    def embedded(self) -> int:
        """Width of a state's embedding, to which an action's is added."""
        return self.hidden if self.joint else self.state


def without_history(state: Bits) -> Bits:
    """States less the ones of the history, which are the last of the schema."""
    kept = state.bits[: state.offsets[-1]] < S_HISTORY
    sums = np.concatenate([[0], np.cumsum(kept)])
    return Bits(sums[state.offsets], state.bits[: state.offsets[-1]][kept])


class RoleNet(nn.Module):
    """One network; all inputs are lists of ones (`Bits`) and facts."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        # About 80 and 18 ones a row: unit variance after the sums.
        self.state_in = nn.Parameter(torch.randn(STATE_SIZE, config.hidden) / 80**0.5)
        self.state_bias = nn.Parameter(torch.zeros(config.hidden))
        self.state_out = nn.Linear(config.hidden, config.state)
        self.action_in = nn.Parameter(torch.randn(ACTION_SIZE, config.embedded) / 18**0.5)
        self.facts_in = nn.Parameter(torch.randn(FACTS, config.embedded) / 20**0.5)
        self.use_facts, self.history, self.joint = config.facts, config.history, config.joint
        if not config.facts:
            self.facts_in.data.zero_().requires_grad_(False)
        self.head = nn.Linear(config.state, config.head)
        self.out = nn.Linear(config.head, len(OUTPUTS))
        with torch.no_grad():
            self.out.bias[1:] = FIRST_POINTS

    def embed(self, state: Bits) -> Tensor:
        """State embeddings, `float32[B, embedded]`."""
        if not self.history:
            state = without_history(state)
        hidden = sum_of_rows(state, self.state_in) + self.state_bias  # [B, hidden]
        return hidden if self.joint else self.state_out(torch.relu(hidden))

    def score(self, embedded: Tensor, actions: Bits, facts: Tensor) -> Tensor:
        """Outputs of actions, one for each row of `embedded[A, embedded]`: `float32[A, 3]`."""
        added = sum_of_rows(actions, self.action_in)  # [A, embedded]
        if self.use_facts:
            added = added + facts @ self.facts_in
        return self._top(embedded + added)

    def _top(self, mixed: Tensor) -> Tensor:
        """The layers above the sum of state and action; without a gradient in its place."""
        relu = torch.relu if torch.is_grad_enabled() else torch.relu_
        if self.joint:
            mixed = self.state_out(relu(mixed))
        return self.out(relu(self.head(relu(mixed))))

    @torch.no_grad()
    def score_lists(self, inputs: Inputs) -> np.ndarray:
        """Outputs of all listed actions of a batch, `float32[A, n]`; on the CPU."""
        embedded = self.embed(inputs.state)  # [B, embedded]
        offsets = inputs.legal.offsets
        mixed = torch.empty(int(offsets[-1]), self.action_in.shape[1])  # [A, embedded]
        repeat_rows(offsets, embedded.numpy(), mixed.numpy())
        if self.use_facts:
            mixed.addmm_(torch.from_numpy(inputs.facts), self.facts_in)
        sum_rows(*inputs.actions, self.action_in.detach().numpy(), mixed.numpy())
        return self._top(mixed).numpy()


def size_of(config: NetConfig, name: str) -> NetConfig:
    """Sizes of one network: the one for the few choices before the play has half the width."""
    if name != BEFORE:
        return config
    sizes = {key: -(-getattr(config, key) // 2) for key in ("hidden", "state", "head")}
    return replace(config, **sizes)


def make_nets(config: NetConfig, names: tuple[str, ...]) -> nn.ModuleList:
    """A network for each name."""
    return nn.ModuleList(RoleNet(size_of(config, name)) for name in names)
