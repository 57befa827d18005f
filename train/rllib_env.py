"""What RLlib plays and learns with: an environment of one game, and a module around `PolicyNet`.

Not RLlib's PettingZoo wrapper: its agents' order comes from a set, and rewards from before an
agent's first observation are dropped. Here an agent is a seat in a part of the game,
`landlord_down_2` or `before_0` (the choices before the play), so that the module of each is known
from its name, and all who acted are rewarded at the end. Forced choices and certain wins make
themselves. An observation is lists of ones, padded: of the state, and of each of at most
`listed` legal actions, with their facts; so 27,000 logits are never stored. Where more are legal,
those that leave the fewest plays to go are listed.

Imports ray: needs the extra `rllib`.
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.utils.torch_utils import FLOAT_MIN
from torch import Tensor

from agents.dmc_net import NetConfig
from agents.inputs import FACTS, Inputs, Reader
from agents.planner_features import NAMES
from agents.ppo import PolicyNet
from agents.role_agent import net_names, net_of
from ddz_env.features import ACTION_SIZE, MAX_ACTION_BITS, MAX_STATE_BITS, STATE_SIZE
from ddz_env.listed import Bits
from ddz_env.rules import RuleSet
from ddz_env.scoring import QUARTERS
from ddz_env.vector import VecEnv
from train.rewards import by_points, reward_of

_TO_GO = NAMES.index("to go squared")


def padded(inputs: Inputs, listed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """An observation of one decision, and the places of the actions that it lists.

    Args:
        inputs: of one row.
        listed: the most actions.
    """
    n = int(inputs.legal.offsets[-1])
    places = np.arange(n)
    if n > listed:
        # What the planner left out of its closer look comes last.
        left = inputs.facts[:, _TO_GO] + 1e3 * inputs.facts[:, FACTS - 1]
        places = np.sort(np.argsort(left, kind="stable")[:listed])
    state = np.full(MAX_STATE_BITS, STATE_SIZE, np.int16)
    ones = int(inputs.state.offsets[-1])
    state[:ones] = inputs.state.bits[:ones]
    actions = np.full((listed, MAX_ACTION_BITS), ACTION_SIZE, np.int16)
    for row, place in enumerate(places):
        begin, end = inputs.actions.offsets[place], inputs.actions.offsets[place + 1]
        actions[row, : end - begin] = inputs.actions.bits[begin:end]
    facts = np.zeros((listed, FACTS), np.float32)
    facts[: len(places)] = inputs.facts[places]
    count = np.array(len(places), np.int16)
    return {"state": state, "actions": actions, "facts": facts, "count": count}, places


def spaces(listed: int) -> tuple[gymnasium.spaces.Dict, gymnasium.spaces.Discrete]:
    """Observation and action space of every agent."""
    box = gymnasium.spaces.Box
    observation = gymnasium.spaces.Dict(
        {
            "state": box(0, STATE_SIZE, (MAX_STATE_BITS,), np.int16),
            "actions": box(0, ACTION_SIZE, (listed, MAX_ACTION_BITS), np.int16),
            "facts": box(-np.inf, np.inf, (listed, FACTS), np.float32),
            "count": box(0, listed, (), np.int16),
        }
    )
    return observation, gymnasium.spaces.Discrete(listed)


def module_of(agent: str) -> str:
    """The module of an agent: its name without the seat."""
    return agent.rpartition("_")[0]


class DealEnv(MultiAgentEnv):
    """One deal an episode.

    Args:
        config: `rules` (fields of the room), `listed`, `objective`, `seed`; RLlib adds the numbers
            of the runner and of the environment in it.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        rules = RuleSet(**config["rules"])
        self._names = net_names((rules,))
        self._listed, self._points = config["listed"], by_points(config["objective"], (rules,))
        numbers = (config["seed"], getattr(config, "worker_index", 0),
                   getattr(config, "vector_index", 0))  # fmt: skip
        seed = int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
        self._env, self._reader = VecEnv(1, rules, seed), Reader()
        self.possible_agents = [f"{name}_{seat}" for name in self._names for seat in range(3)]
        self.agents = list(self.possible_agents)
        observation, action = spaces(self._listed)
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation)
        self.action_spaces = dict.fromkeys(self.possible_agents, action)
        self._acted: dict[str, int] = {}
        self._ids = np.zeros(0, np.int64)
        self._agent = ""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        """Begin the next deal, or that of a seed, at its first choice."""
        if seed is not None:
            self._env.reset(seed=seed)
        self._acted = {}
        while (seen := self._advance()) is None:
            pass  # a deal without any choice
        return {self._agent: seen}, {}

    def step(self, action_dict: dict[str, int]) -> tuple[Any, ...]:
        """Make the choice of the agent that was asked."""
        action, actor = self._ids[action_dict[self._agent]], self._agent
        self._acted[actor] = int(self._env.states["turn"][0])
        seen = None if self._env.step(np.array([action]))[0] else self._advance()
        if seen is not None:
            return {self._agent: seen}, {actor: 0.0}, {"__all__": False}, {"__all__": False}, {}
        points = (self._env.scores[0] / QUARTERS).astype(np.float32)
        gains = reward_of(points, self._points)
        rewards = {agent: float(gains[seat]) for agent, seat in self._acted.items()}
        return {}, rewards, {"__all__": True}, {"__all__": False}, {}

    def _advance(self) -> dict[str, np.ndarray] | None:
        """Make forced choices up to the next free one, and show it; None if the deal ends."""
        env = self._env
        while True:
            legal = env.legal()
            forced = int(legal.ids[0])
            if len(legal.ids) > 1:
                views = env.views()
                inputs = self._reader.read(views, legal)
                if inputs.sure[0] < 0:
                    net = int(net_of(views["phase"], views["seat"], views["landlord"])[0])
                    self._agent = f"{self._names[net]}_{views['seat'][0]}"
                    seen, places = padded(inputs, self._listed)
                    self._ids = legal.ids[places].astype(np.int64)
                    return seen
                forced = int(legal.ids[inputs.sure[0]])
            if env.step(np.array([forced]))[0]:
                return None


def unpadded(rows: np.ndarray, size: int) -> Bits:
    """Lists of ones from rows that end with `size` or more; `int16[n, most]`."""
    kept = rows < size
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return Bits(offsets, rows[kept].astype(np.uint16))


class PolicyModule(TorchRLModule, ValueFunctionAPI):
    """`PolicyNet` on padded observations; `model_config` holds its sizes as `net`."""

    def setup(self) -> None:
        """Make the network."""
        self.net = PolicyNet(NetConfig(**self.model_config["net"]))

    def _embed(self, seen: dict[str, Tensor]) -> Tensor:
        return self.net.embed(unpadded(seen["state"].cpu().numpy(), STATE_SIZE))

    def _logits(self, seen: dict[str, Tensor], embedded: Tensor) -> Tensor:
        """Logits of the listed actions, `float32[n, listed]`; the rest is as good as impossible."""
        n, listed = seen["facts"].shape[:2]
        here = torch.arange(listed, device=embedded.device) < seen["count"].reshape(-1, 1)
        rows = here.nonzero()[:, 0]
        actions = seen["actions"][here].cpu().numpy()
        logits = self.net.score(
            embedded[rows], unpadded(actions, ACTION_SIZE), seen["facts"][here].float()
        )
        out = torch.full((n, listed), FLOAT_MIN, device=embedded.device)
        out[here] = logits.squeeze(1)
        return out

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        return {Columns.ACTION_DIST_INPUTS: self._logits(seen, self._embed(seen))}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        embedded = self._embed(seen)
        return {
            Columns.ACTION_DIST_INPUTS: self._logits(seen, embedded),
            Columns.EMBEDDINGS: embedded,
        }

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """The reward expected, `float32[n]`."""
        if embeddings is None:
            embeddings = self._embed(batch[Columns.OBS])
        return self.net.value_of(embeddings)
