"""The Deep Monte-Carlo agent and its network: values of listed actions, factorised.

The state is read once, then every listed action is scored against it: state bits -> 512 -> ReLU ->
256, plus action bits -> 256, ReLU -> 128 -> ReLU -> 1, the logit of the chance of winning. One
network for each role. The first layers read lists of ones (sums of weight rows), so no dense
observation is ever built. After DouZero (Zha et al. 2021), which evaluates the whole network once
for every legal action.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numba import types
from torch import Tensor, nn

from agents.base import AgentError
from ddz_env._jit import njit
from ddz_env.bots import GreedyBot
from ddz_env.catalogue import TABLES
from ddz_env.features import (
    ACTION_SIZE,
    MAX_ACTION_BITS,
    MAX_STATE_BITS,
    SCHEMA_NAME,
    STATE_SIZE,
    schema_hash,
)
from ddz_env.rules import RuleSet
from ddz_env.state import Phase
from ddz_env.vector import Legal, encode_actions, encode_views

FORMAT = "ddz-dmc-1"
ROLES = ("landlord", "landlord_down", "landlord_up")

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


@dataclass(frozen=True)
class NetConfig:
    """Sizes of the network of a role."""

    hidden: int = 512
    """Width of the first layer."""
    state: int = 256
    """Width of the state embedding, to which an action's is added."""
    head: int = 128
    """Width of the layer above their sum."""


class RoleNet(nn.Module):
    """The network of one role; all inputs are lists of ones (`Bits` of vector.py)."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        # About 80 and 18 ones a row: unit variance after the sums.
        self.state_in = nn.Parameter(torch.randn(STATE_SIZE, config.hidden) / 80**0.5)
        self.state_bias = nn.Parameter(torch.zeros(config.hidden))
        self.state_out = nn.Linear(config.hidden, config.state)
        self.action_in = nn.Parameter(torch.randn(ACTION_SIZE, config.state) / 18**0.5)
        self.head = nn.Linear(config.state, config.head)
        self.out = nn.Linear(config.head, 1)

    def embed(self, offsets: np.ndarray, bits: np.ndarray) -> Tensor:
        """State embeddings, `float32[B, state]`."""
        hidden = _SumRows.apply(offsets, bits, self.state_in) + self.state_bias  # [B, hidden]
        return self.state_out(torch.relu(hidden))

    def score(self, embedded: Tensor, offsets: np.ndarray, bits: np.ndarray) -> Tensor:
        """Logits of actions, one for each row of `embedded[A, state]`: `float32[A]`."""
        mixed = embedded + _SumRows.apply(offsets, bits, self.action_in)  # [A, state]
        return self.out(torch.relu(self.head(torch.relu(mixed))))[:, 0].float()

    @torch.no_grad()
    def score_lists(
        self,
        state_offsets: np.ndarray,
        state_bits: np.ndarray,
        legal_offsets: np.ndarray,
        action_offsets: np.ndarray,
        action_bits: np.ndarray,
    ) -> Tensor:
        """Logits of all listed actions of B states, `float32[A]`; `legal_offsets` is `[B + 1]`."""
        embedded = self.embed(state_offsets, state_bits).float()  # [B, state]
        mixed = torch.empty(len(action_offsets) - 1, embedded.shape[1])  # [A, state]
        repeat_rows(legal_offsets, embedded.numpy(), mixed.numpy())
        sum_rows(action_offsets, action_bits, self.action_in.numpy(), mixed.numpy())
        return self.out(torch.relu(self.head(torch.relu_(mixed))))[:, 0].float()


def make_nets(config: NetConfig) -> nn.ModuleList:
    """A network for each role, in the order of `ROLES`."""
    return nn.ModuleList(RoleNet(config) for _ in ROLES)


class DMCAgent:
    """Plays the listed action with the highest value; calls as `greedy` does.

    Args:
        nets: a network for each role.
        rules: the room that they were trained in.
    """

    def __init__(self, nets: nn.ModuleList, rules: RuleSet) -> None:
        self.nets = nets
        self.rules = rules
        self._greedy = GreedyBot()

    def act(self, views: np.ndarray, legal: Legal) -> np.ndarray:
        """One id a row, `int64[B]`."""
        choice = np.zeros(len(views), np.int64)
        in_play = np.isin(views["phase"], (Phase.PLAY, Phase.FILL))
        calls = np.flatnonzero(~in_play)
        if len(calls):
            choice[calls] = self._greedy.act(views[calls], legal.take(calls))
        role = np.where(in_play, (views["seat"] - views["landlord"]) % 3, -1)
        for r in range(len(ROLES)):
            rows = np.flatnonzero(role == r)
            if len(rows):
                lists = legal.take(rows)
                best = best_of(lists.offsets, self.values(r, views[rows], lists))
                choice[rows] = lists.ids[best]
        return choice

    def values(self, role: int, views: np.ndarray, legal: Legal) -> np.ndarray:
        """Logits of the chance of winning of every listed action, for rows of one role.

        Args:
            role: index into `ROLES`.
            views: `VIEW[B]`.
            legal: their lists.

        Returns:
            `float32[legal.offsets[B]]`.
        """
        state_offsets = np.zeros(len(views) + 1, np.int64)
        state_bits = np.empty(len(views) * MAX_STATE_BITS, np.uint16)
        encode_views(views, TABLES, state_offsets, state_bits)
        n = len(legal.ids)
        action_offsets, action_bits = np.zeros(n + 1, np.int64), np.empty(n * MAX_ACTION_BITS, "u2")
        hands = np.ascontiguousarray(views["hand"])
        encode_actions(hands, legal.offsets, legal.ids, TABLES, action_offsets, action_bits)
        net = self.nets[role]
        return net.score_lists(
            state_offsets, state_bits, legal.offsets, action_offsets, action_bits
        ).numpy()


@njit([types.void(_T_OFFSETS, types.float32[::1], types.int64[::1])])
def _best_of(offsets, values, out):
    for i in range(offsets.shape[0] - 1):
        best = offsets[i]
        for j in range(offsets[i] + 1, offsets[i + 1]):
            if values[j - offsets[0]] > values[best - offsets[0]]:
                best = j
        out[i] = best


def best_of(offsets: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The position of the highest value of each list, `int64[B]`; the first of equals."""
    out = np.zeros(len(offsets) - 1, np.int64)
    _best_of(offsets, values, out)
    return out


def header(rules: RuleSet, net: NetConfig) -> dict[str, Any]:
    """What a checkpoint says of itself."""
    return {
        "format": FORMAT,
        "rules": asdict(rules),
        "schema": SCHEMA_NAME,
        "schema_hash": schema_hash(),
        "net": asdict(net),
    }


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """A checkpoint of this trainer, checked.

    Raises:
        AgentError: no such file, not a checkpoint, or of another format or schema (both named).
    """
    path = Path(path)
    if not path.is_file():
        raise AgentError(f"checkpoint {path}: no such file; train one with train/selfplay.py")
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
        found = data["format"], data["schema"], data["schema_hash"]
    except Exception as error:
        raise AgentError(f"checkpoint {path}: not a checkpoint of this project") from error
    want = FORMAT, SCHEMA_NAME, schema_hash()
    if found != want:
        raise AgentError(f"checkpoint {path}: made for {found}, this version reads {want}")
    return data


def from_checkpoint(path: str | Path) -> DMCAgent:
    """The averaged player of a checkpoint.

    Raises:
        AgentError: as `read_checkpoint`; or parts that are missing, unknown or of another size.
    """
    data = read_checkpoint(path)
    try:
        nets = make_nets(NetConfig(**data["net"]))
        nets.load_state_dict(data["average"])
        return DMCAgent(nets.eval(), RuleSet(**data["rules"]))
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise AgentError(f"checkpoint {path}: can't be read by this version: {reason}") from error


def from_spec(argument: str | None) -> DMCAgent:
    """The agent of a spec `dmc:PATH`."""
    if not argument:
        raise AgentError("agent dmc: expected dmc:PATH, such as dmc:runs/x/last.pt")
    return from_checkpoint(argument)
