"""TorchRL: masked PPO by self-play, one network for all three seats."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import MarlGroupMapType, PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss

import ddz_env

SIZE, N_ACTIONS = ddz_env.schema().size, ddz_env.n_actions("play_only")
OBSERVATION, LOGITS = ("agents", "observation", "observation"), ("agents", "logits")
KEYS = {name: ("agents", name) for name in ("action", "value", "reward", "done", "terminated")}
KEYS |= {name: ("agents", name) for name in ("advantage", "value_target")}


def make_env(face):
    """Face `aec` or `parallel`; the three agents are the rows of one group."""
    make = ddz_env.env if face == "aec" else ddz_env.parallel_env
    env = make("play_only", legal_infos=False)  # TorchRL stacks infos
    return PettingZooWrapper(env, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)


class Net(nn.Sequential):
    """A small network on int8 features."""

    def __init__(self, n_out):
        super().__init__(nn.Linear(SIZE, 32), nn.Tanh(), nn.Linear(32, n_out))

    def forward(self, features):
        return super().forward(features.float())


def make_loss():
    """PPO's loss with a new actor and critic (`loss.actor_network`)."""
    actor = ProbabilisticActor(
        TensorDictModule(Net(N_ACTIONS), [OBSERVATION], [LOGITS]),
        in_keys={"logits": LOGITS, "mask": ("agents", "action_mask")},
        out_keys=[KEYS["action"]],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("agents", "log_prob"),
    )
    critic = TensorDictModule(Net(1), [OBSERVATION], [KEYS["value"]])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    loss.set_keys(**KEYS, sample_log_prob=("agents", "log_prob"))
    loss.make_value_estimator(gamma=1.0, lmbda=0.95)
    return actor, loss


def train(env, updates=2, frames=120, epochs=2):
    """Collect and learn; the actor and, for each update, the batch and its loss."""
    actor, loss = make_loss()
    optim = torch.optim.Adam(loss.parameters(), lr=1e-3)
    history = []
    for data in Collector(
        env,
        actor,
        frames_per_batch=frames,
        total_frames=frames * updates,
        auto_register_policy_transforms=False,
    ):
        with torch.no_grad():  # advantages and targets of all seats, turn or not
            loss.value_estimator(data, params=loss.critic_network_params)
        turns = data["agents"][data["agents", "mask"]]  # with `aec`, whose turn it is
        batch = TensorDict({"agents": turns}, turns.batch_size)
        for _ in range(epochs):
            parts = loss(batch)
            total = parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]
            optim.zero_grad()
            total.backward()
            optim.step()
        history.append((data, total.item()))
    return actor, history
