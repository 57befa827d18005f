"""Train an agent by self-play: `python train/selfplay.py --rules play_only --minutes 10`."""

import dataclasses
import importlib.util
import json
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import tyro

import agents
from agents.base import AgentError
from agents.checkpoints import rooms_of
from agents.dmc_net import NetConfig
from ddz_env.errors import DdzError
from ddz_env.rooms import load_rules
from ddz_env.rules import RuleSet
from ddz_env.vector import check_seed
from eval.cli import check_folder, save_json
from train import bc, dmc, ppo, rllib
from train.actors import ActorDied
from train.averaged import check_sizes
from train.bc import BCConfig
from train.common import RunSettings
from train.learner import DMCConfig
from train.ppo import PPOConfig
from train.rllib import RLlibConfig


@dataclass(frozen=True)
class Command:
    """Train an agent by self-play; ends with an evaluation on duplicate deals."""

    algo: Literal["dmc", "ppo", "bc", "rllib-ppo"] = "dmc"
    """Algorithm: dmc (Deep Monte-Carlo), ppo (proximal policy optimisation), bc (behaviour cloning:
    learns from kept games, --replays), or rllib-ppo (ppo by Ray RLlib, for several machines; extra
    `rllib`)."""
    replays: tuple[Path, ...] = ()
    """Files of kept games that bc learns from. A resumed run keeps its own."""
    rules: str | None = None
    """Room: a preset's name or a TOML file; play_only unless given. Several with commas between are
    trained together. A resumed run keeps its own."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field of the room to change, as field=value; may be given again."""
    minutes: float = 10.0
    """Length of the run in minutes, without the closing evaluation."""
    updates: int | None = None
    """End after so many updates instead of minutes."""
    seed: int | None = None
    """Seed of networks, deals and exploration; 1 unless given. A resumed run keeps its own."""
    out: Path | None = None
    """Folder of the run; runs/ALGO-RULES-TIME unless given."""
    resume: bool = False
    """Go on with the run in --out, up to --minutes or --updates in all."""
    init_from: Path | None = None
    """Checkpoint or shipped weights to begin with; networks that it lacks are fresh."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where networks learn; auto is cuda where there is one."""
    deterministic: bool = False
    """Equal seeds give equal bits; needs --updates."""
    eval_minutes: float = 2.0
    """Minutes between evaluations on the way."""
    eval_deals: int = 1000
    """Deals of an evaluation on the way, against each opponent."""
    final_deals: int = 4000
    """Deals of the closing evaluation, against each opponent."""
    keep: tuple[float, ...] = ()
    """Minutes after which the player is kept as minute-N.pt, for eval/curve.py: --keep 1 3 10."""
    num_env_runners: int = 0
    """Ray actors that play. rllib-ppo: 0 plays in this process, best on two cores. dmc, with
    --ray-address: 1 unless given, in the place of --dmc.workers."""
    ray_address: str | None = None
    """HOST:PORT of a Ray cluster that runs, or local to start Ray here, as rllib-ppo does anyway;
    with dmc, Ray actors play instead of processes."""
    dmc: DMCConfig = dataclasses.field(default_factory=DMCConfig)
    """Settings of dmc."""
    ppo: PPOConfig = dataclasses.field(default_factory=PPOConfig)
    """Settings of ppo."""
    bc: BCConfig = dataclasses.field(default_factory=BCConfig)
    """Settings of bc."""
    rllib: RLlibConfig = dataclasses.field(default_factory=RLlibConfig)
    """Settings of rllib-ppo."""

    @property
    def section(self) -> str:
        """What options of the algorithm begin with."""
        return self.algo.partition("-")[0]

    @property
    def config(self) -> Any:
        """Settings of the algorithm."""
        return getattr(self, self.section)


TRAINERS: dict[str, Any] = {"dmc": dmc, "ppo": ppo, "bc": bc, "rllib-ppo": rllib}
"""The module of each algorithm."""


WHOLE = {
    "dmc": ("workers", "games", "batch", "window", "block", "average_every", "restart_every"),
    "ppo": (
        "workers", "games", "batch", "minibatch", "epochs", "league_every", "league_size",
        "average_every", "restart_every",
    ),
    "bc": ("workers", "batch", "average_every", "restart_every"),
    "rllib": ("envs", "batch", "minibatch", "epochs", "listed", "league_every"),
}  # fmt: skip
"""Settings that are whole numbers from 1."""
UP_TO: dict[str, dict[str, float]] = {
    "dmc": {
        "lr_end": 1.0, "explore": 1.0, "explore_end": 1.0, "average": 1.0, "guest_games": 1.0,
        "forks": 1.0, "explore_calls": 1.0, "td_lambda": 1.0,
        "score_weight": 100.0, "critic": 1e5, "belief": 100.0,
    },
    "ppo": {
        "lr_end": 1.0, "entropy": 100.0, "entropy_end": 100.0, "value_weight": 100.0, "gamma": 1.0,
        "gae_lambda": 1.0, "critic": 1e5, "league": 1.0, "average": 1.0,
    },
    "bc": {"lr_end": 1.0, "held_out": 0.9, "average": 1.0},
    "rllib": {
        "entropy": 100.0, "value_weight": 100.0, "gamma": 1.0, "gae_lambda": 1.0, "league": 1.0,
        "gpu_learners": 1e4,
    },
}  # fmt: skip
"""Settings that are numbers from 0 up to this."""
ABOVE: dict[str, dict[str, float]] = {
    "dmc": {"lr": 1.0, "reuse": 100.0},
    "ppo": {"lr": 1.0, "clip": 100.0, "max_norm": 1e6},
    "bc": {"lr": 1.0},
    "rllib": {"lr": 1.0, "clip": 100.0},
}
"""Settings that are numbers above 0 up to this."""
OBJECTIVES = {"dmc": ("wp", "adp", "mixed")}
OBJECTIVES["ppo"] = OBJECTIVES["rllib"] = ("auto", "wp", "points")


def check_numbers(command: Command) -> None:
    """Raise a `DdzError` that names the first setting that is out of range."""
    algo, config = command.section, command.config

    def option(name: str) -> str:
        return f"--{algo}." + name.replace("_", "-")

    whole = {"--eval-deals": command.eval_deals, "--final-deals": command.final_deals}
    if command.updates is not None:
        whole["--updates"] = command.updates
    whole |= {option(name): getattr(config, name) for name in WHOLE[algo]}
    whole |= {option(f"net.{n}"): getattr(config.net, n) for n in ("hidden", "state", "head")}
    for name, number in whole.items():
        if number < 1:
            raise DdzError(f"{name}: expected a whole number from 1, got {number}")
    parts = [("--minutes", command.minutes, 1e6), ("--eval-minutes", command.eval_minutes, 1e6)]
    parts += [("--keep", minutes, 1e6) for minutes in command.keep]
    parts += [(option(n), getattr(config, n), high) for n, high in ABOVE[algo].items()]
    for name, value, high in parts:
        if not 0 < value <= high:
            raise DdzError(f"{name}: expected a number above 0 and up to {high:g}, got {value}")
    for name, high in UP_TO[algo].items():
        value = getattr(config, name)
        if not 0 <= value <= high:
            raise DdzError(f"{option(name)}: expected a number in 0..{high:g}, got {value}")
    if algo in OBJECTIVES and config.objective not in OBJECTIVES[algo]:
        known = " or ".join([", ".join(OBJECTIVES[algo][:-1]), OBJECTIVES[algo][-1]])
        raise DdzError(f"{option('objective')}: expected {known}, got {config.objective!r}")
    if algo == "dmc" and config.critic and config.td_lambda < 1:
        raise DdzError(
            f"--dmc.critic: needs --dmc.td-lambda 1 (results alone), got {config.td_lambda:g}"
        )


def check_ray(command: Command) -> None:
    """Raise a `DdzError` for what can't be done with Ray, or where it or its cluster is missing."""
    if command.algo in ("ppo", "bc") or (command.algo == "dmc" and command.ray_address is None):
        for name in ("num_env_runners", "ray_address"):
            if getattr(command, name):
                other = "dmc and --ray-address" if command.algo == "dmc" else "dmc"
                raise DdzError(f"--{name.replace('_', '-')}: needs --algo rllib-ppo, or {other}")
        return
    if importlib.util.find_spec("ray") is None:
        raise DdzError("Ray: needs the extra rllib: pip install -e '.[train,rllib]'")
    if command.deterministic:
        raise DdzError("--deterministic: not with Ray; use --algo dmc or ppo without it")
    if command.algo == "rllib-ppo" and len((command.rules or "").split(",")) > 1:
        raise DdzError("--rules: rllib-ppo trains one room at a time")
    if not 0 <= command.num_env_runners <= 10_000:
        raise DdzError(f"--num-env-runners: expected 0..10000, got {command.num_env_runners}")
    if command.ray_address not in (None, "local"):
        check_address(command.ray_address)
        use_token()


HTTP2_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""What a client of HTTP/2 says first: the preface, and settings that change nothing."""


def check_address(address: str) -> None:
    """Raise a `DdzError` where no Ray cluster can be; Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdecimal() and 0 < int(port) < 2**16):
        raise DdzError(f"--ray-address: expected HOST:PORT, got {address!r}")
    why = "another service"
    try:
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(HTTP2_HELLO)
            # gRPC, which Ray speaks, answers with its settings (a frame of type 4).
            if os.environ.get("RAY_USE_TLS") == "1" or connection.recv(9)[3:4] == b"\x04":
                return
    except OSError as error:
        why = error.strerror or str(error)
    except UnicodeError:  # a host that can't be a name
        why = "no such host"
    raise DdzError(
        f"--ray-address {address}: expected a Ray cluster there, got: {why};"
        f" `ray start --head --port {port}` starts one"
    )


def use_token() -> None:
    """Show clusters the user's token, if there is one; has to come before ray is imported.

    Who has one starts clusters that ask for it (Ray 2.60), and those that do not ask do not mind.
    """
    given = any(os.environ.get(f"RAY_AUTH_TOKEN{end}") for end in ("", "_PATH"))
    if given or (Path.home() / ".ray" / "auth_token").is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def check_replays(command: Command) -> tuple[Path, ...]:
    """The files that bc learns from: those that are given, or those of the run that goes on.

    Raises:
        DdzError: none for bc, or some for another algorithm; no checkpoint to go on with.
    """
    if command.algo != "bc":
        if command.replays:
            raise DdzError(f"--replays: {command.algo} plays its own games; give --algo bc")
        return ()
    if command.replays:
        return command.replays
    if not command.resume or command.out is None:
        raise DdzError("--algo bc: needs --replays, files of kept games")
    data = bc.read_checkpoint(command.out / "last.pt")
    return tuple(map(Path, data.get("replays", ())))


def check_device(device: str) -> str:
    """The device that `auto` means.

    Raises:
        DdzError: cuda where there is none.
    """
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise DdzError("--device cuda: torch finds no CUDA device here; expected cpu or auto")
    return "cuda" if there and device != "cpu" else "cpu"


def check_rooms(names: str | None, changes: tuple[str, ...]) -> tuple[RuleSet, ...]:
    """The rooms of `--rules`.

    Raises:
        DdzError: an unknown room, or one twice.
    """
    rooms = tuple(load_rules(name, changes) for name in (names or "play_only").split(","))
    for k, room in enumerate(rooms):
        if room in rooms[:k]:
            raise DdzError(f"--rules: room {room.name} is given twice")
    return rooms


def check(command: Command) -> tuple[RunSettings, Any]:
    """The settings of a run, every argument checked before any file is written.

    Raises:
        DdzError: an argument that is out of range, by name; a checkpoint that does not fit.
    """
    check_numbers(command)
    check_ray(command)
    if command.deterministic and command.updates is None:
        raise DdzError("--deterministic: needs --updates, since minutes differ from run to run")
    if command.out is None and command.resume:
        raise DdzError("--resume: needs --out, the folder of the run to go on with")
    if command.init_from is not None:
        if command.resume:
            raise DdzError("--init-from: a resumed run goes on with its own weights; leave it out")
        data = TRAINERS[command.algo].read_checkpoint(command.init_from)
        check_sizes(data["net"], command.config.net)
    replays, device = check_replays(command), check_device(command.device)
    rooms = check_rooms(command.rules, command.set)
    for room in rooms:
        for guest in filter(None, command.dmc.guests.split(",") if command.algo == "dmc" else ()):
            try:
                agents.load(guest, room)
            except AgentError as error:
                raise DdzError(f"--dmc.guests: {error}") from None
    seed = check_seed(1 if command.seed is None else command.seed)
    name = f"{command.algo}-{'+'.join(r.name for r in rooms)}-{time.strftime('%m%d-%H%M%S')}"
    out, config = command.out or Path("runs") / name, command.config
    check_folder(out)
    if command.resume:
        rooms, seed, config = resumed(command, out / "last.pt")
    elif (out / "last.pt").exists():
        raise DdzError(f"--out {out}: holds a run already; --resume it or choose another folder")
    settings = RunSettings(
        rooms=rooms,
        minutes=command.minutes,
        updates=command.updates,
        seed=seed,
        out=out,
        eval_minutes=command.eval_minutes,
        eval_deals=command.eval_deals,
        final_deals=command.final_deals,
        deterministic=command.deterministic,
        device=device,
        replays=replays,
        keep=tuple(sorted(command.keep)),
        ray=command.ray_address,
        runners=command.num_env_runners or int(command.algo == "dmc"),
    )
    return settings, config


def resumed(command: Command, path: Path) -> tuple[tuple[RuleSet, ...], int, Any]:
    """Room, seed and settings of the run that goes on; what the command gives must agree.

    Raises:
        AgentError: no checkpoint there, of another room or seed, or other settings.
    """
    data = TRAINERS[command.algo].read_checkpoint(path)
    rooms = rooms_of(data)
    if (command.rules or command.set) and check_rooms(command.rules, command.set) != rooms:
        names = ",".join(room.name for room in rooms)
        raise AgentError(f"{path}: of room {names}, not {command.rules or 'play_only'}")
    if not {"config", "seed", "learner"} <= set(data):
        raise AgentError(f"{path}: holds a player only, no run that can go on")
    if set(data["config"]) != {field.name for field in dataclasses.fields(command.config)}:
        raise AgentError(f"{path}: a run of another algorithm or version, not of {command.algo}")
    net = NetConfig(**data["config"].pop("net"))
    config = type(command.config)(net=net, **data["config"])
    if command.seed not in (None, data["seed"]):
        raise AgentError(f"{path}: of seed {data['seed']}, not {command.seed}")
    if command.config not in (type(command.config)(), config):
        raise AgentError(f"{path}: a resumed run keeps its --{command.section} settings")
    return rooms, data["seed"], config


def describe(algo: str, settings: RunSettings, config: Any) -> dict[str, Any]:
    """The run's settings as JSON, for config.json."""
    return {
        "command": " ".join(["python", "train/selfplay.py", *sys.argv[1:]]),
        "settings": json.loads(json.dumps(dataclasses.asdict(settings), default=str)),
        algo.partition("-")[0]: dataclasses.asdict(config),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)
    train = TRAINERS[command.algo].run
    try:
        settings, config = check(command)
        if command.algo == "bc":
            train = partial(train, lessons=bc.read_lessons(config, settings, command.resume))
    except DdzError as error:
        print(f"selfplay: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    save_json(settings.out / "config.json", describe(command.algo, settings, config))
    length = f"{settings.updates} updates" if settings.updates else f"{settings.minutes:g} minutes"
    print(
        f"{command.algo}, room {settings.name}, {length} in {config.workers} processes,"
        f" then an evaluation of about a minute; folder {settings.out}",
        flush=True,
    )
    try:
        train(config, settings, command.resume, command.init_from)
    except (DdzError, OSError) as error:
        print(f"selfplay: {error}", file=sys.stderr)
        return 2
    except ActorDied as error:
        more = "" if command.algo == "dmc" else f" --algo {command.algo}"
        again = f"go on with: python train/selfplay.py{more} --resume --out {settings.out}"
        print(f"selfplay: {error}\nthe others were ended; {again}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
