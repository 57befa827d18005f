"""The 23 titles of both tables of levels (rules par. 6)."""

from bisect import bisect_right
from typing import NamedTuple, get_args

from ddz_env.errors import RuleError
from ddz_env.rules import Levels


class Title(NamedTuple):
    """One level: its number (0..22) and its names."""

    level: int
    chinese: str
    english: str


_ROWS = (  # names, the least points, the least beans
    ("包身工", "Bonded Labourer", 0, 0),
    ("短工", "Day Labourer", 10, 100),
    ("长工", "Farmhand", 25, 200),
    ("佃户", "Tenant", 40, 400),
    ("贫农", "Poor Peasant", 80, 600),
    ("渔夫", "Fisherman", 140, 800),
    ("猎人", "Hunter", 230, 1000),
    ("中农", "Middle Peasant", 365, 2000),
    ("富农", "Rich Peasant", 500, 4000),
    ("掌柜", "Shopkeeper", 700, 6000),
    ("商人", "Merchant", 1000, 10_000),
    ("衙役", "Constable", 1500, 20_000),
    ("小财主", "Man of Means", 2200, 50_000),
    ("大财主", "Man of Wealth", 3000, 100_000),
    ("小地主", "Small Landlord", 4000, 200_000),
    ("大地主", "Great Landlord", 5500, 500_000),
    ("知县", "Magistrate", 7700, 1_000_000),
    ("通判", "Assistant Prefect", 10_000, 2_000_000),
    ("知府", "Prefect", 14_000, 5_000_000),
    ("总督", "Viceroy", 20_000, 10_000_000),
    ("巡抚", "Grand Coordinator", 30_000, 20_000_000),
    ("丞相", "Chancellor", 45_000, 50_000_000),
    ("帝王", "Emperor", 70_000, 100_000_000),
)

TITLES = tuple(Title(i, row[0], row[1]) for i, row in enumerate(_ROWS))
"""All levels, ascending."""

THRESHOLDS: dict[str, tuple[int, ...]] = {
    "points": tuple(row[2] for row in _ROWS),
    "beans": tuple(row[3] for row in _ROWS),
}
"""The least value of each level, by what a room's titles count; below the second is the first."""


def title(value: float, levels: Levels = "points") -> Title:
    """The title of somebody with so many points, or accumulated bean points.

    Args:
        value: any number; all below the second level have the first title.
        levels: which table, `"points"` or `"beans"`.

    Raises:
        RuleError: no such table, not a number.
    """
    if levels not in THRESHOLDS:
        expected = ", ".join(get_args(Levels))
        raise RuleError(f"levels: expected one of {expected}, got {levels!r}")
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise RuleError(f"value: expected a number, got {value!r}")
    return TITLES[max(bisect_right(THRESHOLDS[levels], value) - 1, 0)]
