"""Tianshou: masked DQN by self-play, a network for each seat."""

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import ddz_env

N_ENVS = 2


def make_env():
    """The AEC environment as Tianshou's, which stacks infos."""
    return PettingZooEnv(ddz_env.env("play_only", legal_infos=False))


def make_dqn(env):
    """One seat's learner.

    The buffer holds the turns of all seats, so the state and the rewards that follow a choice are
    the next seat's. In `play_only` the seats act strictly in turn: with a horizon of three, targets
    are bootstrapped from the seat's own next state, and reach the end of the deal.
    """
    features = env.observation_space["observation"]
    net = Net(state_shape=features.shape, action_shape=env.action_space.n, hidden_sizes=[32])
    policy = DiscreteQLearningPolicy(
        model=net,
        action_space=env.action_space,
        observation_space=env.observation_space,
        eps_training=0.2,
    )
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=3,
        target_update_freq=20,
    )


def train(steps=200, seed=1):
    """Train for some turns; the learner, the collector of test deals and the trainer's figures."""
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = make_env()
    learner = MultiAgentOffPolicyAlgorithm(algorithms=[make_dqn(env) for _ in env.agents], env=env)
    envs, test_envs = DummyVectorEnv([make_env] * N_ENVS), DummyVectorEnv([make_env])
    envs.seed(seed)
    test_envs.seed(seed)
    buffer = VectorReplayBuffer(1000, N_ENVS)
    collector = Collector(learner, envs, buffer, exploration_noise=True)
    tests = Collector(learner, test_envs)
    result = learner.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=tests,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=50,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=32,
            test_step_num_episodes=2,
            multi_agent_return_reduction=lambda returns: returns[:, 0],  # player_0's points
            show_progress=False,
        )
    )
    return learner, tests, result
