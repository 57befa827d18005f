"""Train an agent by self-play: `python train/selfplay.py --rules play_only --minutes 10`."""

import dataclasses
import json
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from agents.base import AgentError
from ddz_env.errors import DdzError
from ddz_env.rooms import load_rules
from ddz_env.rules import RuleSet
from ddz_env.vector import check_seed
from eval.cli import check_folder, save_json
from train import dmc as trainer
from train.common import RunSettings


@dataclass(frozen=True)
class Command:
    """Train an agent by self-play; ends with an evaluation on duplicate deals."""

    algo: Literal["dmc"] = "dmc"
    """Algorithm: dmc (Deep Monte-Carlo)."""
    rules: str = "play_only"
    """Room: a preset's name, or a TOML file."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field of the room to change, as field=value; may be given again."""
    minutes: float = 10.0
    """Length of the run in minutes, without the closing evaluation."""
    updates: int | None = None
    """End after so many updates instead of minutes."""
    seed: int = 1
    """Seed of networks, deals and exploration."""
    out: Path | None = None
    """Folder of the run; runs/ALGO-RULES-TIME unless given."""
    resume: bool = False
    """Go on with the run in --out, up to --minutes or --updates in all."""
    deterministic: bool = False
    """Equal seeds give equal bits; needs --updates."""
    eval_minutes: float = 2.0
    """Minutes between evaluations on the way."""
    eval_deals: int = 1000
    """Deals of an evaluation on the way, against each opponent."""
    final_deals: int = 4000
    """Deals of the closing evaluation, against each opponent."""
    dmc: trainer.DMCConfig = dataclasses.field(default_factory=trainer.DMCConfig)
    """Settings of dmc."""


def check(command: Command) -> RunSettings:
    """The settings of a run, every argument checked before any file is written.

    Raises:
        DdzError: an argument that is out of range, by name.
    """
    rules = load_rules(command.rules, command.set)
    check_seed(command.seed)
    for name in ("minutes", "eval_minutes"):
        value = getattr(command, name)
        if not 0 < value < 1e6:
            raise DdzError(f"--{name.replace('_', '-')}: expected a number above 0, got {value}")
    numbers = [("--" + n.replace("_", "-"), getattr(command, n)) for n in ("eval_deals",)]
    numbers += [("--final-deals", command.final_deals), ("--updates", command.updates)]
    for name in ("workers", "games", "batch", "window", "average_every"):
        numbers.append((f"--dmc.{name.replace('_', '-')}", getattr(command.dmc, name)))
    for name, number in numbers:
        if number is not None and number < 1:
            raise DdzError(f"{name}: expected a whole number from 1, got {number}")
    if command.deterministic and command.updates is None:
        raise DdzError("--deterministic: needs --updates, since minutes differ from run to run")
    if command.out is None and command.resume:
        raise DdzError("--resume: needs --out, the folder of the run to go on with")
    out = (
        command.out or Path("runs") / f"{command.algo}-{rules.name}-{time.strftime('%m%d-%H%M%S')}"
    )
    check_folder(out)
    if not command.resume and (out / "last.pt").exists():
        raise DdzError(f"--out {out}: holds a run already; --resume it or choose another folder")
    return RunSettings(
        rules=rules,
        minutes=command.minutes,
        updates=command.updates,
        seed=command.seed,
        out=out,
        eval_minutes=command.eval_minutes,
        eval_deals=command.eval_deals,
        final_deals=command.final_deals,
        deterministic=command.deterministic,
    )


def resumed_config(settings: RunSettings) -> trainer.DMCConfig:
    """The algorithm's settings of the run that goes on.

    Raises:
        AgentError: no checkpoint there, or of another room.
    """
    path = settings.out / "last.pt"
    data = trainer.read_checkpoint(path)
    rules = RuleSet(**data["rules"])
    if rules != settings.rules:
        raise AgentError(f"{path}: of room {rules.name}, not {settings.rules.name}")
    net = trainer.NetConfig(**data["config"].pop("net"))
    return trainer.DMCConfig(net=net, **data["config"])


def describe(settings: RunSettings, config: Any) -> dict[str, Any]:
    """The run's settings as JSON, for config.json."""
    return {
        "command": " ".join(["python", "train/selfplay.py", *sys.argv[1:]]),
        "settings": json.loads(json.dumps(dataclasses.asdict(settings), default=str)),
        "dmc": dataclasses.asdict(config),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)
    try:
        settings = check(command)
        config = resumed_config(settings) if command.resume else command.dmc
    except DdzError as error:
        print(f"selfplay: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    save_json(settings.out / "config.json", describe(settings, config))
    length = f"{settings.updates} updates" if settings.updates else f"{settings.minutes:g} minutes"
    print(
        f"{command.algo}, room {settings.rules.name}, {length} in {config.workers} processes,"
        f" then an evaluation of about a minute; folder {settings.out}",
        flush=True,
    )
    trainer.run(config, settings, command.resume)
    return 0


if __name__ == "__main__":
    sys.exit(main())
