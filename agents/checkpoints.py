"""Checkpoints of every trainer: what they say of themselves, and reading them."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from agents.base import AgentError
from agents.dmc_net import NetConfig
from agents.inputs import FACTS_HASH
from ddz_env.features import SCHEMA_NAME, schema_hash
from ddz_env.rules import RuleSet


def header(form: str, rooms: tuple[RuleSet, ...], net: NetConfig, objective: str) -> dict[str, Any]:
    """What a checkpoint says of itself.

    Args:
        form: of which trainer, and the version of its form.
        rooms: that were trained.
        net: sizes of the networks.
        objective: what was trained for.
    """
    return {
        "format": form,
        "rooms": [asdict(room) for room in rooms],
        "schema": SCHEMA_NAME,
        "schema_hash": schema_hash(),
        "facts_hash": FACTS_HASH,
        "net": asdict(net),
        "objective": objective,
    }


def read(path: str | Path, form: str) -> dict[str, Any]:
    """A checkpoint of a form, checked.

    Raises:
        AgentError: no such file, not a checkpoint, or of another form or schema (both named).
    """
    path = Path(path)
    if not path.is_file():
        raise AgentError(f"checkpoint {path}: no such file; train one with train/selfplay.py")
    keys = ("format", "schema", "schema_hash", "facts_hash")
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
        found = tuple(data.get(key) for key in keys)
    except Exception as error:
        raise AgentError(f"checkpoint {path}: not a checkpoint of this project") from error
    want = form, SCHEMA_NAME, schema_hash(), FACTS_HASH
    if found != want:
        raise AgentError(f"checkpoint {path}: made for {found}, this version reads {want}")
    return data


def rooms_of(data: Mapping[str, Any]) -> tuple[RuleSet, ...]:
    """The rooms of a checkpoint."""
    return tuple(RuleSet(**room) for room in data["rooms"])


PACKED = (".state_in", ".action_in", ".facts_in", ".state_out.weight")
"""The layers that are most of a network's weights. They sum dozens or hundreds of weights, so that
rounding these to bytes averages out."""


def packed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in half precision, those of the large layers as bytes with a scale for each row."""
    out: dict[str, Tensor] = {}
    for name, value in weights.items():
        if name.endswith(PACKED):
            scale = value.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
            out[name] = (value / scale).round().to(torch.int8)
            out[f"{name}.scale"] = scale
        else:
            out[name] = value.to(torch.float16)
    return out


def unpacked(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in full precision, whether they were `packed` or not."""
    return {
        name: value.float() * weights.get(f"{name}.scale", 1.0)
        for name, value in weights.items()
        if not name.endswith(".scale")
    }
