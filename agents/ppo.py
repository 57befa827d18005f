"""`ppo:PATH`: a policy over the listed actions, from a checkpoint of `train/ppo.py`.

Plays the likeliest action, or with `ppo:PATH,sample=true` draws one by its probability; draws are
keyed by the seed, the deal and the ply, so that they don't depend on the neighbours in a batch.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from torch import Tensor, nn

from agents import checkpoints
from agents.base import AgentError, parse_options
from agents.dmc_net import NetConfig, RoleNet
from agents.inputs import Inputs
from agents.role_agent import RoleAgent, best_of, net_names
from ddz_env._jit import njit
from ddz_env.bots import decision_bits
from ddz_env.errors import DdzError
from ddz_env.rules import RuleSet
from ddz_env.vector import check_seed
from ddz_env.vector_kernels import T_ROWS, T_VIEWS

FORMAT = "ddz-ppo-1"
VALUE_WIDTH = 64
"""Width of the layer below the value."""
_T_VALUES = types.float32[::1]


class PolicyNet(RoleNet):
    """One network: a logit of each listed action, and the value of a state.

    The layers are those of `RoleNet`; fresh logits are equal, so that a fresh policy is random.
    """

    def __init__(self, config: NetConfig) -> None:
        super().__init__(config)
        self.out = nn.Linear(config.head, 1)
        nn.init.zeros_(self.out.weight)
        self.value = nn.Sequential(
            nn.ReLU(), nn.Linear(config.embedded, VALUE_WIDTH), nn.ReLU(), nn.Linear(VALUE_WIDTH, 1)
        )

    def value_of(self, embedded: Tensor) -> Tensor:
        """The reward expected from states, `float32[B]`, by their embeddings."""
        return self.value(embedded).squeeze(1)


def make_nets(config: NetConfig, names: tuple[str, ...]) -> nn.ModuleList:
    """A network for each name."""
    return nn.ModuleList(PolicyNet(config) for _ in names)


@njit([types.void(T_ROWS, _T_VALUES, types.float64[::1], T_ROWS, _T_VALUES)])
def draw(offsets, logits, uniforms, out, log_chance):
    """Draw an action of each row by the softmax of its logits.

    Args:
        offsets: of the rows' actions, int64[B + 1].
        logits: of all actions, float32[A].
        uniforms: a number in 0..1 for each row, float64[B].
        out: the place of the action that is drawn, int64[B].
        log_chance: the logarithm of its probability, float32[B].
    """
    for i in range(out.shape[0]):
        begin, end = offsets[i], offsets[i + 1]
        top = logits[begin]
        for j in range(begin + 1, end):
            top = max(top, logits[j])
        total = 0.0
        for j in range(begin, end):
            total += np.exp(np.float64(logits[j] - top))
        share = total * uniforms[i]
        out[i] = end - 1  # should rounding leave a rest
        for j in range(begin, end):
            share -= np.exp(np.float64(logits[j] - top))
            if share < 0.0:
                out[i] = j
                break
        log_chance[i] = logits[out[i]] - top - np.log(total)


@njit([types.void(T_VIEWS, types.uint64, types.float64[::1])])
def uniforms_of(views, seed, out):
    """A number in 0..1 for each decision, from a player's seed, the deal, seat and ply."""
    for i in range(views.shape[0]):
        out[i] = np.float64(decision_bits(seed, views[i]) >> np.uint64(11)) * 2.0**-53


class PolicyAgent(RoleAgent):
    """Plays by the logits of its networks; a win that is certain is taken.

    Args:
        nets: a network for each name of `net_names(rooms)`.
        rooms: the rooms that they were trained in.
        sample: draw by probability instead of playing the likeliest.
        seed: of the draws.
    """

    def __init__(
        self, nets: nn.ModuleList, rooms: tuple[RuleSet, ...], sample: bool = False, seed: int = 0
    ) -> None:
        super().__init__(nets, rooms)  # type: ignore[arg-type]
        self.sample, self.seed = sample, np.uint64(seed)

    def choose(self, k: int, views: np.ndarray, inputs: Inputs) -> np.ndarray:
        """Network k chooses in some rows: places among all listed actions, `int64[B]`."""
        logits = self.nets[k].score_lists(inputs)[:, 0].copy()
        offsets = inputs.legal.offsets
        if not self.sample:
            logits[inputs.sure[inputs.sure >= 0]] = np.inf
            return best_of(offsets, logits)
        n = len(views)
        uniforms, places = np.zeros(n), np.zeros(n, np.int64)
        uniforms_of(views, self.seed, uniforms)
        draw(offsets, logits, uniforms, places, np.zeros(n, np.float32))
        return np.where(inputs.sure >= 0, inputs.sure, places)


def header(rooms: tuple[RuleSet, ...], net: NetConfig, objective: str) -> dict[str, Any]:
    """What a checkpoint says of itself."""
    return checkpoints.header(FORMAT, rooms, net, objective)


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """A checkpoint of this trainer, checked.

    Raises:
        AgentError: as `checkpoints.read`.
    """
    return checkpoints.read(path, FORMAT)


def from_checkpoint(path: str | Path, sample: bool = False, seed: int = 0) -> PolicyAgent:
    """The averaged player of a checkpoint.

    Raises:
        AgentError: as `read_checkpoint`; or parts that are missing, unknown or of another size.
    """
    data = read_checkpoint(path)
    try:
        rooms = checkpoints.rooms_of(data)
        nets = make_nets(NetConfig(**data["net"]), net_names(rooms))
        nets.load_state_dict(checkpoints.unpacked(data["average"]))
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise AgentError(f"checkpoint {path}: can't be read by this version: {reason}") from error
    return PolicyAgent(nets.eval(), rooms, sample, seed)


def from_spec(argument: str | None) -> PolicyAgent:
    """The agent of `ppo:PATH`, also with `,sample=true` and `,seed=N`."""
    path, _, rest = (argument or "").partition(",")
    if not path or "=" in path:
        raise AgentError(
            f"agent ppo: expected ppo:PATH such as ppo:runs/x/last.pt, got {argument!r}"
        )
    options = parse_options("ppo", rest or None, {"sample": False, "seed": 0})
    try:
        check_seed(options["seed"])
    except DdzError as error:
        raise AgentError(f"agent ppo: {error}") from error
    return from_checkpoint(path, **options)
