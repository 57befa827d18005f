"""PPO by RLlib (new API stack), for those who outgrow one machine.

The environment and the network are those of `train/rllib_env.py`: a module for each role and one
for the choices before the play, each a `PolicyNet`, so that what RLlib trains is a checkpoint of
`agents/ppo.py` too (`last.pt`) and plays in the same tournaments. RLlib's own state lies beside it
in `rllib/`, for `--resume`. With `--rllib.league` an earlier policy, renewed every
`--rllib.league-every` iterations, takes one side of a share of the games; it learns nothing.

Command: `python train/selfplay.py --algo rllib-ppo --minutes 10 --num-env-runners 2 --out runs/r`;
`--ray-address HOST:PORT` uses a cluster that runs, else Ray is started here. What scales and what
does not: docs/scaling.md.
"""

import logging
import math
import os
import shutil
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from agents.dmc_net import NetConfig
from agents.ppo import PolicyAgent, header, make_nets, read_checkpoint
from agents.role_agent import net_names
from ddz_env.errors import DdzError
from train.actors import Actors
from train.averaged import begin_from
from train.common import RunSettings
from train.rewards import by_points
from train.run import Run, run_here
from train.share import play_share

ROOT = Path(__file__).resolve().parent.parent
STATE = "rllib"
"""Folder of RLlib's own state in that of a run."""
FORMER = "former_"
"""What the modules of earlier policies are called by, before the name of the module."""


@dataclass(frozen=True)
class RLlibConfig:
    """Settings of the algorithm."""

    envs: int = 16
    """Games in flight in each runner."""
    batch: int = 4096
    """Choices that are played for an iteration, in all."""
    minibatch: int = 512
    """Choices of a module in a gradient."""
    epochs: int = 2
    """Times that an iteration goes through its choices."""
    lr: float = 3e-4
    """Learning rate of Adam."""
    clip: float = 0.2
    """How far the probability of a choice may move in an iteration, as a ratio to 1."""
    entropy: float = 0.01
    """Weight of the policy's entropy."""
    value_weight: float = 0.5
    """Weight of the loss of the value."""
    gamma: float = 1.0
    """Discount of the reward for each choice of the seat that lies between."""
    gae_lambda: float = 0.95
    """How far advantages look ahead: 0 to the next choice, 1 to the end."""
    listed: int = 64
    """Legal actions of an observation at most; of more, those with the fewest plays to go."""
    league: float = 0.0
    """Share of the games in which an earlier policy takes one side."""
    league_every: int = 10
    """Iterations between two renewals of the earlier policy."""
    objective: str = "auto"
    """Reward: wp, points, or auto: wp where nobody calls, else points."""
    gpu_learners: int = 0
    """Learners with a GPU each; 0 learns in this process, on `--device`."""
    net: NetConfig = field(default_factory=NetConfig)
    """Sizes of the networks."""

    @property
    def workers(self) -> int:
        """Processes besides the runners."""
        return 1


def mapping(league: float) -> Callable[..., str]:
    """The module of an agent in an episode, as RLlib asks for it.

    Args:
        league: share of the episodes in which earlier policies take one side.
    """

    def module_for(agent: str, episode: Any, **_: Any) -> str:
        module = agent.rpartition("_")[0]
        # The episode's id decides, so that every process says the same.
        draw = np.random.default_rng(int.from_bytes(str(episode.id_).encode()[-16:], "little"))
        guest, landlord = draw.random() < league, draw.random() < 0.5
        if guest and module != "before" and (module == "landlord") == landlord:
            return FORMER + module
        return module

    return module_for


def started(address: str | None) -> None:
    """Start Ray here, or reach a cluster.

    Args:
        address: HOST:PORT of a cluster, None or `local` to start Ray in this machine.

    Raises:
        DdzError: nothing answers there.
    """
    import ray

    local = address in (None, "local")
    variables = {"OMP_NUM_THREADS": "1", "RAY_DEDUP_LOGS": "0"}
    environment: dict[str, Any] = {"env_vars": variables}
    if local:  # runners find the checkout where it is
        variables["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    else:  # nodes get a copy of it
        environment |= {"working_dir": str(ROOT), "excludes": [".git", ".venv*", "runs", "results"]}
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    more: dict[str, Any] = {"include_dashboard": False} if local else {}
    try:
        ray.init(
            address="local" if local else address,
            runtime_env=environment,
            log_to_driver=False,
            logging_level=logging.ERROR,
            ignore_reinit_error=True,
            **more,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DdzError(f"--ray-address {address}: no Ray cluster answers there: {reason}") from None


def algorithm(config: RLlibConfig, settings: RunSettings) -> Any:
    """RLlib's algorithm for a run."""
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    from train.rllib_env import DealEnv, PolicyModule, spaces

    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    (room,) = settings.rooms
    names = net_names(settings.rooms)
    frozen = [FORMER + name for name in names[:3]] if config.league else []
    observation, action = spaces(config.listed)
    specs = {
        name: RLModuleSpec(
            module_class=PolicyModule,
            observation_space=observation,
            action_space=action,
            model_config={"net": asdict(config.net)},
        )
        for name in (*names, *frozen)
    }
    environment = {
        "rules": asdict(room),
        "listed": config.listed,
        "objective": config.objective,
        "seed": settings.seed,
    }
    learners = {"num_learners": config.gpu_learners, "num_gpus_per_learner": 1}
    if not config.gpu_learners:
        learners["num_gpus_per_learner"] = int(settings.device == "cuda")
    built = (
        PPOConfig()
        # The checker plays actions at random that are not listed.
        .environment(DealEnv, env_config=environment, disable_env_checking=True)
        .framework("torch")
        .env_runners(
            num_env_runners=settings.runners,
            num_envs_per_env_runner=config.envs,
            rollout_fragment_length="auto",
            batch_mode="complete_episodes",
        )
        .fault_tolerance(restart_failed_env_runners=True, restart_failed_sub_environments=False)
        .learners(**learners)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=specs))
        .multi_agent(
            policies=set(specs),
            policy_mapping_fn=mapping(config.league),
            policies_to_train=list(names),
        )
        .training(
            train_batch_size_per_learner=config.batch,
            minibatch_size=config.minibatch,
            num_epochs=config.epochs,
            lr=config.lr,
            clip_param=config.clip,
            entropy_coeff=config.entropy,
            vf_loss_coeff=config.value_weight,
            vf_clip_param=1e6,
            gamma=config.gamma,
            lambda_=config.gae_lambda,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .reporting(metrics_num_episodes_for_smoothing=100)
        .debugging(seed=settings.seed, log_level="ERROR")
    )
    return built.build_algo()


class Learner:
    """RLlib's algorithm as a run's learner: its policies as `PolicyNet`s.

    Args:
        algorithm: RLlib's.
        config: sizes of the networks, and the league.
        names: of the networks.
        folder: where its state is saved.
    """

    def __init__(
        self, algorithm: Any, config: RLlibConfig, names: tuple[str, ...], folder: Path
    ) -> None:
        self.algorithm, self.config, self.names, self.folder = algorithm, config, names, folder
        self.nets = make_nets(config.net, names)
        self.average = self.nets
        self.updates = 0
        self.metrics: dict[str, float] = {}
        self.counts: dict[str, int] = {"decisions": 0, "games": 0}
        self.fetch()

    def fetch(self) -> None:
        """Get the policies' weights."""
        for name, net in zip(self.names, self.nets, strict=True):
            load_policy(net, self.algorithm.get_weights([name])[name])

    def begin_from(self, data: dict[str, Any]) -> None:
        """Begin with a checkpoint's averaged weights: `averaged.begin_from`.

        Raises:
            AgentError: networks that do not fit.
        """
        begin_from(self.nets, self.average, data, self.config.net)
        weights = {
            name: {f"net.{key}": value.numpy() for key, value in net.state_dict().items()}
            for name, net in zip(self.names, self.nets, strict=True)
        }
        self.algorithm.set_weights(weights)

    def train(self) -> None:
        """One iteration."""
        result = self.algorithm.train()
        self.updates += 1
        runners = result.get("env_runners", {})
        for key, name in (
            ("num_env_steps_sampled_lifetime", "decisions"),
            ("num_episodes_lifetime", "games"),
        ):
            value = runners.get(key, math.nan)  # not a number in an iteration that lost a runner
            if value == value:
                self.counts[name] = int(value)
        self.metrics = {
            f"{shown}_{name}": float(found[key])
            for name in self.names
            for key, shown in (
                ("policy_loss", "loss/policy"),
                ("vf_loss", "loss/value"),
                ("entropy", "policy/entropy"),
                ("vf_explained_var", "value/explained"),
            )
            if key in (found := result.get("learners", {}).get(name, {}))
            and math.isfinite(float(found[key]))
        }
        if self.config.league and self.updates % self.config.league_every == 1:
            weights = self.algorithm.get_weights(list(self.names[:3]))
            self.algorithm.set_weights({FORMER + name: w for name, w in weights.items()})
        self.fetch()

    def state_dict(self) -> dict[str, Any]:
        """What `last.pt` holds of the learner; the rest lies in its folder."""
        return {"updates": self.updates, "counts": dict(self.counts)}

    def load_state_dict(self, data: dict[str, Any]) -> None:
        """Go on from the folder."""
        self.algorithm.restore_from_path(str(self.folder.resolve()))
        self.updates, self.counts = data["updates"], dict(data["counts"])
        self.fetch()

    def save(self) -> None:
        """Write RLlib's state; the former one is there until the new one is whole."""
        new, old = (self.folder.with_name(f".{STATE}-{word}") for word in ("new", "old"))
        for path in (new, old):
            shutil.rmtree(path, ignore_errors=True)
        self.algorithm.save_to_path(str(new.resolve()))
        if self.folder.exists():
            self.folder.rename(old)
        new.rename(self.folder)
        shutil.rmtree(old, ignore_errors=True)


def load_policy(net: nn.Module, weights: dict[str, Any]) -> None:
    """A module's weights as RLlib gives them, into a `PolicyNet`."""
    net.load_state_dict(
        {
            name.removeprefix("net."): torch.as_tensor(np.asarray(value))
            for name, value in weights.items()
        }
    )


class _Evaluator:
    """Plays the matches of an evaluation in this process."""

    def __init__(self, learner: Learner, settings: RunSettings) -> None:
        self._learner = learner
        self._agent = PolicyAgent(learner.nets, settings.rooms)

    @property
    def counts(self) -> dict[str, int]:
        """What happened so far."""
        return self._learner.counts

    def restart(self, seed: int) -> None:
        """Games are RLlib's."""

    def evaluate(self, word: Any) -> Any:
        """Play shares of matches, `GAME[D, L]` of each."""
        return [play_share(self._agent, share) for share in word]


class RLlibPPO(Run):
    """A run of RLlib's PPO.

    Args:
        config: of the algorithm.
        settings: of the run.
        resumed: the checkpoint to go on with, or nothing.
        begin: a checkpoint whose weights to begin with, or nothing.
    """

    algo = "rllib-ppo"

    def __init__(
        self,
        config: RLlibConfig,
        settings: RunSettings,
        resumed: dict[str, Any],
        begin: dict[str, Any],
    ) -> None:
        names, folder = net_names(settings.rooms), settings.out / STATE
        learner = Learner(algorithm(config, settings), config, names, folder)
        super().__init__(config, settings, resumed, begin, learner)
        self.past = {}  # RLlib's own counts go on

    def players(self) -> tuple[Actors, _Evaluator]:
        """Nobody here but who evaluates: RLlib's runners play."""
        return Actors(0, _Evaluator, (), 1, 1), _Evaluator(self.learner, self.settings)  # type: ignore[arg-type]

    def header(self) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        points = by_points(self.config.objective, self.settings.rooms)
        return header(self.settings.rooms, self.config.net, "points" if points else "wp")

    def step(self, done: float) -> dict[str, float]:
        """One iteration of RLlib."""
        self.learner.train()
        return {"learning_rate": self.config.lr}

    def _save(self, name: str, part: Any = lambda data: data) -> None:
        if name == "last.pt":
            self.learner.save()
        super()._save(name, part)


def run(
    config: RLlibConfig,
    settings: RunSettings,
    resume: bool,
    begin: Path | None,
) -> None:
    """Train until the run has ended or was stopped.

    Raises:
        DdzError: no Ray at the address.
        AgentError: a checkpoint that does not fit.
    """
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    started(settings.ray)
    import ray

    try:
        run_here(RLlibPPO, read_checkpoint, config, settings, resume, begin)
    finally:
        ray.shutdown()
