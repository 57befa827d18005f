"""Custom rooms: a TOML file, or a preset with fields set (`--rules happy --set spring=false`)."""

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ddz_env.errors import RuleError
from ddz_env.rules import PRESETS, RuleSet, get_rules


def _value(text: str) -> Any:
    """The value of a setting's text: true, false, a whole number, or a word."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return text


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Fields from texts `field=value`.

    Raises:
        RuleError: a text without `=`, or the same field twice.
    """
    fields: dict[str, Any] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise RuleError(f"--set {text}: expected field=value, such as spring=false")
        if name in fields:
            raise RuleError(f"--set {text}: {name} is set twice")
        fields[name] = _value(value)
    return fields


def read_toml(path: str | Path) -> RuleSet:
    """A room from a TOML file: `base` names a preset (default `play_only`), other keys are fields.

    Raises:
        RuleError: no such file, no TOML, an unknown field, a value out of range.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        raise RuleError(f"rules {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RuleError(f"rules {path}: not TOML: {error}") from error
    base = get_rules(data.pop("base", "play_only"))
    try:
        return base.replace(**{"name": path.stem, **data})
    except RuleError as error:
        raise RuleError(f"rules {path}: {error}") from error


def load_rules(spec: str | RuleSet, settings: Sequence[str] = ()) -> RuleSet:
    """A room from a preset's name or a TOML file's path, with fields set.

    Raises:
        RuleError: no such room or file, an unknown field, a value out of range.
    """
    if isinstance(spec, str) and spec.endswith(".toml"):
        rules = read_toml(spec)
    else:
        rules = get_rules(spec)
    return rules.replace(**parse_settings(settings)) if settings else rules


def rules_hash(rules: RuleSet) -> str:
    """A hash of every field but the name: equal for rooms that play alike."""
    fields = {k: v for k, v in asdict(rules).items() if k != "name"}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:12]


def rules_to_dict(rules: RuleSet) -> dict[str, Any]:
    """All fields as JSON types."""
    return asdict(rules)


def rules_from_dict(fields: dict[str, Any]) -> RuleSet:
    """The inverse of `rules_to_dict`.

    Raises:
        RuleError: an unknown field or a value out of range.
    """
    name = fields.get("name", "custom")
    if name in PRESETS and asdict(PRESETS[name]) == fields:
        return PRESETS[name]
    return RuleSet().replace(**fields)
