"""Kept deals as one page: no other file, nothing from the network, no build step.

The page is a frame, the data as JSON, `replay.css` and `replay.js`, which draws everything.
"""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from ddz_env.words import LANGS
from eval import replay_deal, replay_values
from eval.replay_deal import Deal
from eval.replay_values import Value
from eval.replay_words import page_words

GENERATOR = "ddz-replay-page-1"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""What a browser lets the page do: nothing is fetched, whatever a file of replays holds."""


def page_data(
    shown: Sequence[tuple[Deal, list[Value | None] | None]],
    agent: str,
    lang: str,
    file: str,
    first: int,
    total: int,
) -> dict[str, Any]:
    """What the page's script draws.

    Args:
        shown: deals, each with what the model says of its decisions, or None.
        agent: the model by its spec.
        lang: the language to begin with.
        file: name of the file of replays.
        first: number of the first deal in the file.
        total: how many the file has.
    """
    deals = []
    for deal, values in shown:
        data = replay_deal.as_json(deal)
        if values is not None:
            for step, value in zip(data["steps"], values, strict=True):
                step["v"] = replay_values.as_json(value)
        deals.append(data | {"valued": values is not None})
    return {
        "deals": deals, "agent": agent, "lang": lang, "file": file, "first": first, "total": total,
        "words": page_words(), "langs": LANGS,
    }  # fmt: skip


def page_script() -> str:
    """The script of every page, as it stands between its tags."""
    return "\n" + (Path(__file__).parent / "replay.js").read_text(encoding="utf-8")


def page(data: dict[str, Any]) -> str:
    """The whole page of what `page_data` gives."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c")  # names in a file can't end the script
    style = (Path(__file__).parent / "replay.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="{data["lang"]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{GENERATOR}">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<link rel="icon" href="data:,">
<title>{escape(data["file"])}</title>
<style>
{style}</style>
</head>
<body>
<noscript>This page draws its deals with a script of its own, which is switched off here.</noscript>
<div id="app"></div>
<script type="application/json" id="data">{text}</script>
<script>{page_script()}</script>
</body>
</html>
"""
