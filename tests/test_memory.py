"""Long runs do not grow: the peak of memory stays the same after five times as many games."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "memory_use.py"
SOME = [("aec", 150), ("parallel", 60), ("vector", 400_000), ("snapshots", 4_000)]
MANY = [("aec", 10_000), ("parallel", 2_000), ("vector", 10_000_000), ("snapshots", 200_000)]


def growth(kind: str, n: int) -> float:
    """MiB by which a process of its own grows."""
    command = [sys.executable, "-W", "ignore", str(SCRIPT), kind, str(n)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(result.stdout)


@pytest.mark.parametrize(("kind", "n"), SOME)
def test_memory_is_flat(kind, n):
    assert growth(kind, n) < 4


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), MANY)
def test_memory_stays_flat(kind, n):
    grown = growth(kind, n)
    print(f"{kind}: {n:,}, grown by {grown:.2f} MiB")
    assert grown < 4
