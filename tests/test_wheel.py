"""The wheel: only the environment is in it, and there it works by itself, without torch."""

import os
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import ddz_env

ROOT = Path(__file__).parent.parent

PLAY = """
import importlib.util, pathlib, sys
import ddz_env
from ddz_env.bots import make_bot

here = pathlib.Path(ddz_env.__file__).resolve()
assert here.is_relative_to(pathlib.Path(sys.prefix).resolve()), here
for name in ("torch", "agents", "eval", "train", "rich", "tyro"):
    assert importlib.util.find_spec(name) is None, name

bots = [make_bot("greedy"), make_bot("random"), make_bot("greedy")]
for room in ddz_env.PRESETS:
    deal = ddz_env.vec_env(1, room, seed=4, autoreset=False)
    while not deal.done[0]:
        deal.step(bots[deal.turn[0]].act(deal.views(), deal.legal()))
    assert deal.points().sum() == 0 and deal.points().any()
    print(room, deal.points()[0].tolist())

table = ddz_env.env(rules="play_only")
table.reset(seed=1)
for seat in table.agent_iter():
    over = table.last()[2]
    table.step(None if over else int(table.last()[4]["legal_actions"][0]))
print(ddz_env.legal_plays("33344")[:3], ddz_env.__version__)
"""


def run(*words, **options):
    """(exit code, output) of a program that sees nothing of the checkout."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_TARGET"))}
    done = subprocess.run(
        list(map(str, words)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=env | options.pop("env", {}),
        **options,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the checkout."""
    for name in ("build", "hatchling"):
        pytest.importorskip(name)
    out = tmp_path_factory.mktemp("dist")
    words = ("-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT)
    code, text = run(sys.executable, *words, cwd=out)
    assert code == 0, text
    (path,) = out.glob("*.whl")
    return path


def test_only_the_environment_is_in_it(wheel):
    version = ddz_env.__version__
    assert wheel.name == f"ddz_env-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    info = f"ddz_env-{version}.dist-info/"
    outside = {name for name in names if not name.startswith(("ddz_env/", info))}
    assert not outside
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "ddz_env").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    assert f"{info}licenses/LICENSE" in names


def test_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("/METADATA"))
        data = message_from_string(archive.read(name).decode())
    needs = data.get_all("Requires-Dist")
    always = {need.split(">")[0].strip() for need in needs if "extra ==" not in need}
    assert always == {"gymnasium", "numba", "numpy", "pettingzoo"}
    assert {"train", "dev"} <= set(data.get_all("Provides-Extra"))
    assert data["Name"] == "ddz-env" and data["License-Expression"] == "MIT"
    assert data["Requires-Python"] == ">=3.11"


def test_it_plays_in_an_empty_environment(wheel, tmp_path):
    venv = tmp_path / "venv"
    code, text = run(sys.executable, "-m", "venv", venv)
    assert code == 0, text
    python = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (python, "-I", "-m", "pip", "--disable-pip-version-check")
    code, text = run(*pip, "install", "--quiet", wheel, cwd=tmp_path)
    if code != 0 and run(*pip, "download", "--quiet", "--no-deps", "gymnasium", cwd=tmp_path)[0]:
        pytest.skip(f"the package index can't be reached: {text.splitlines()[-1]}")
    assert code == 0, text
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    code, text = run(python, "-I", "-c", PLAY, cwd=tmp_path, env=cache)
    assert code == 0, text
    for word in (*ddz_env.PRESETS, ddz_env.__version__, "'3'"):
        assert word in text
    line = ("-m", "ddz_env", "--rules", "happy_laizi", "--seed", "1", "--deals", "1")
    code, text = run(python, "-I", *line, cwd=tmp_path, env=cache, stdin=subprocess.DEVNULL)
    assert code == 0 and "you leave; deals played: 1" in text, text
