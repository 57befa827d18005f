"""Turn a finished run into weights that ship: `python train/ship.py runs/x --name play_only`.

Writes `agents/weights/NAME.pt`, the averaged player alone, packed, and `NAME.json` beside
it: rooms, schema, command, results, hash. Agents find both by name: `dmc:NAME`, or `dmc` alone for
a room that the weights are for.
"""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from agents.dmc import WEIGHTS, read_checkpoint
from ddz_env.errors import DdzError
from eval.cli import guarded, save_json
from train.common import player_of, save_checkpoint


@dataclass(frozen=True)
class Command:
    """Turn a finished run into weights that ship."""

    run: Annotated[Path, tyro.conf.Positional]
    """Folder of the run, ended by its closing evaluation."""
    name: str
    """Name of the weights: letters, digits and _."""
    out: Path = WEIGHTS
    """Folder to write to."""


def ship(command: Command) -> tuple[Path, Path]:
    """Write the weights and what is known of them; their paths.

    Raises:
        DdzError: a name that can't be one, a run that has not ended.
        AgentError: no checkpoint, or one of another version.
    """
    if not command.name.replace("_", "a").isalnum():
        raise DdzError(f"--name: expected letters, digits and _, got {command.name!r}")
    data = read_checkpoint(command.run / "last.pt")
    parts: dict[str, Any] = {}
    for name in ("config", "summary"):
        path = command.run / f"{name}.json"
        if not path.is_file():
            raise DdzError(f"{path}: no such file; expected a run with its closing evaluation")
        parts[name] = json.loads(path.read_text())
    summary = parts["summary"]
    weights, notes = (command.out / f"{command.name}.{kind}" for kind in ("pt", "json"))
    save_checkpoint(weights, player_of(data))
    known = {
        "file": weights.name,
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "rooms": [room["name"] for room in data["rooms"]],
        **{
            name: data[name] for name in ("schema", "schema_hash", "facts_hash", "objective", "net")
        },
        "command": parts["config"]["command"],
        **{k: v for k, v in summary.items() if k not in ("curve", "rules")},
        "curve": summary["curve"],
    }
    save_json(notes, known)
    return weights, notes


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        weights, notes = ship(command)
        print(f"wrote {weights} ({weights.stat().st_size / 2**20:.1f} MiB) and {notes}")
        print(f"next: python eval/tournament.py dmc:{command.name} planner greedy")

    return guarded("ship", body)


if __name__ == "__main__":
    sys.exit(main())
