"""Write the generated parts of the pages of this folder: `python docs/generate.py`.

A part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; a test fails when one is stale.
"""

import sys
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import get_args, get_type_hints

from ddz_env.rules import PRESETS, RuleSet

FOLDER = Path(__file__).resolve().parent


def _shown(value: object) -> str:
    """A field's value as it is set: `true`, `3`, `points`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def rule_fields() -> str:
    """The table of the fields of `RuleSet`, with what presets set otherwise than the default."""
    hints = get_type_hints(RuleSet)
    lines = ["| field | default | values | meaning | source | set otherwise in |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for f in fields(RuleSet):
        words, (low, high) = get_args(hints[f.name]), f.metadata["range"]
        if words:
            values = ", ".join(words)
        elif hints[f.name] is bool:
            values = "true, false"
        else:
            values = f"{low}..{high}" if hints[f.name] is int else "text"
        others = [
            f"{name}: {_shown(getattr(rules, f.name))}"
            for name, rules in PRESETS.items()
            if getattr(rules, f.name) != f.default and f.name != "name"
        ]
        source = f.metadata["source"].replace("decided", "*(decided)*")
        cells = (f"`{f.name}`", f"`{_shown(f.default)}`", values, f.metadata["doc"], source)
        lines.append("| " + " | ".join([*cells, "; ".join(others)]) + " |")
    return "\n".join(lines)


def source(path: str) -> str:
    """A file of the checkout as a block of code."""
    text = (FOLDER.parent / path).read_text(encoding="utf-8")
    return f"```python\n{text.rstrip()}\n```"


PARTS = {
    "rules.md": {"fields": rule_fields},
    "clients.md": {
        name: partial(source, f"tests/clients/{name}.py")
        for name in ("sb3_maskable_ppo", "torchrl_ppo", "tianshou_dqn")
    },
}
"""Pages and their parts."""


def generate(page: str) -> str:
    """A page with its parts made anew."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    for name, make in PARTS[page].items():
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = head + begin + make() + "\n" + end + tail
    return text


def main() -> int:
    """Write every page."""
    for page in PARTS:
        (FOLDER / page).write_text(generate(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
