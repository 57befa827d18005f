"""The replay of a finished deal of a table, as the page of `eval/replay.py`."""

from agents.base import AgentError
from ddz_env.game import Game
from eval.replay_deal import kept
from eval.replay_page import page, page_data, page_script
from eval.replay_values import SHIPPED, load_valuer, values


def replay_page(game: Game, names: list[str], lang: str, number: int) -> tuple[str, str]:
    """The page of a deal, and its script for the page's policy.

    Args:
        game: finished.
        names: who sat at the seats.
        lang: the language to begin with.
        number: of the deal at its table.
    """
    try:
        agent = load_valuer(None, game.rules)
        said = None if agent is None else values(game, agent)
    except AgentError:
        said = None
    shown = [(kept(game, names), said)]
    data = page_data(shown, SHIPPED, lang, f"{game.rules.name} {number}", 1, 1)
    return page(data), page_script()
