"""SB3-contrib: MaskablePPO in one seat, the others played by bots."""

import gymnasium
from gymnasium.wrappers import FilterObservation
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

import ddz_env  # noqa: F401 (registers the environment)


def make_env():
    """Seat 0 against greedy bots.

    MaskablePPO asks the environment's `action_masks()`, so the network need not see the mask.
    """
    env = gymnasium.make(
        "ddz_env/DouDizhu-v0", rules="play_only", seat=0, opponents="greedy", reward="win"
    )
    return FilterObservation(env, ["observation"])


def train(env, steps=128, seed=1):
    """Train for some steps, in updates of 64; the model."""
    model = MaskablePPO(
        "MultiInputPolicy",
        env,
        n_steps=64,
        batch_size=32,
        n_epochs=2,
        gamma=1.0,
        policy_kwargs={"net_arch": [32]},
        seed=seed,
        device="cpu",
    )
    return model.learn(steps)


def play(model, env, seed):
    """One deal; the actions of the own seat and its reward."""
    observation, _ = env.reset(seed=seed)
    actions, terminated = [], False
    while not terminated:
        mask = get_action_masks(env)
        action, _ = model.predict(observation, action_masks=mask, deterministic=True)
        observation, reward, terminated, _, _ = env.step(action)
        actions.append(int(action))
    return actions, reward
