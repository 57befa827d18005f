"""The worked examples of docs/clients.md: other libraries, unmodified, learn on the environments.

`make clients` installs the libraries and runs these. The environments raise an error at an illegal
action, so a run that ends has made legal ones only.
"""

import importlib
import math

import pytest

import ddz_env

pytestmark = pytest.mark.clients


@pytest.fixture(autouse=True)
def one_thread():
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def example(module, library):
    """An example's module; the test is skipped where its library is not installed."""
    pytest.importorskip(library, reason=f"{library} is not installed; run make clients")
    return importlib.import_module(module)


def weights(module):
    return [parameter.detach().clone() for parameter in module.parameters()]


def moved(before, module):
    """Whether every weight has been trained."""
    return all(not one.equal(two) for one, two in zip(before, weights(module), strict=True))


def test_sb3_maskable_ppo():
    sb3 = example("sb3_maskable_ppo", "sb3_contrib")
    env = sb3.make_env()
    untrained = weights(sb3.train(env, steps=0).policy)
    model = sb3.train(env, steps=128)
    assert model.num_timesteps == 2 * model.n_steps
    assert moved(untrained, model.policy)
    actions, reward = sb3.play(model, env, seed=7)
    assert (actions, reward) == sb3.play(model, env, seed=7)
    assert len(actions) > 1 and reward in (-1, 1)


def test_sb3_checks_the_environment():
    example("sb3_maskable_ppo", "sb3_contrib")
    import gymnasium
    from stable_baselines3.common.env_checker import check_env

    # Its checker samples actions without a mask.
    check_env(gymnasium.make("ddz_env/DouDizhu-v0", illegal="terminate"))


@pytest.mark.parametrize("face", ["aec", "parallel"])
def test_torchrl_ppo(face):
    ppo = example("torchrl_ppo", "torchrl")
    import torch
    from torchrl.envs.utils import check_env_specs

    torch.manual_seed(1)
    env = ppo.make_env(face)
    env.set_seed(3)
    check_env_specs(env)
    torch.manual_seed(2)
    untrained = weights(ppo.make_loss()[0])
    torch.manual_seed(2)
    actor, history = ppo.train(env, updates=2)
    assert moved(untrained, actor)
    assert len(history) == 2
    for data, loss in history:
        assert math.isfinite(loss)
        ends = data["next", "done"][:, 0]
        rewards = data["next", "agents", "reward"][ends]
        assert ends.any() and rewards.ne(0).all() and rewards.sum(1).eq(0).all()
        torch.testing.assert_close(data["agents", "value_target"][ends], rewards)
        turns = data["agents", "mask"].sum(-1)
        assert turns.eq(1 if face == "aec" else 3).all()
    deal = env.rollout(400, actor)
    assert deal["next", "done"][-1] and deal["next", "agents", "reward"].sum() == 0


@pytest.mark.parametrize("num_envs", [None, 3])
def test_torchrl_on_one_seat(num_envs):
    example("torchrl_ppo", "torchrl")
    import gymnasium
    from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
    from torchrl.envs.utils import check_env_specs

    if num_envs is None:
        bare = gymnasium.make("ddz_env/DouDizhu-v0")
    else:  # TorchRL resets rows itself
        bare = gymnasium.make_vec("ddz_env/DouDizhu-v0", num_envs, autoreset_mode="Disabled")
    env = TransformedEnv(GymWrapper(bare, categorical_action_encoding=True), ActionMask())
    check_env_specs(env)
    steps = env.rollout(100, break_when_any_done=False)
    ends = steps["next", "done"]
    assert ends.any() and steps["next", "reward"][ends].ne(0).all()
    assert steps["next", "reward"][~ends].eq(0).all()


def test_tianshou_dqn():
    dqn = example("tianshou_dqn", "tianshou")
    learner, tests, result = dqn.train(steps=200)
    assert result.train_step == 200 and result.update_step == 4
    for agent in ddz_env.env().possible_agents:
        seat = learner.get_algorithm(agent)
        assert moved(weights(seat.model_old), seat.policy.model)  # the former is still untrained
    tests.reset_env()
    returns = tests.collect(n_episode=2).returns
    assert returns.shape == (2, 3)
    assert (returns != 0).all() and (returns.sum(1) == 0).all()
