"""Who may import whom (ddz_env <- agents <- eval <- train), and where the folders are found."""

import ast
import importlib
import importlib.metadata
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = ("ddz_env", "agents", "eval", "train")  # each may import itself and those before it
HEAVY = ("torch", "rich", "tyro", "tensorboard", "matplotlib")  # never in the environment
DRAWING = {"drawing.py": {"PIL"}, "faces.py": {"PIL"}, "render.py": {"pygame"}}  # extra `render`


def modules(folder):
    return sorted((ROOT / folder).rglob("*.py"))


def imported(path):
    """The top names of all imports of a file, also of those inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_imports_are_found():
    assert {"numpy", "numba", "ddz_env"} <= imported(ROOT / "ddz_env" / "engine.py")
    assert "ddz_env" in imported(ROOT / "ddz_env" / "__init__.py")


@pytest.mark.parametrize("folder", ORDER)
def test_arrows(folder):
    files = modules(folder)
    assert files or folder != "ddz_env"
    later = set(ORDER[ORDER.index(folder) + 1 :]) | {"tests", "notebooks"}
    for path in files:
        assert not imported(path) & later, path


def test_the_environment_is_light():
    """Also what the imports bring with them: importing the environment loads none of these."""
    for path in modules("ddz_env"):
        assert not imported(path) & set(HEAVY), path
    declared = importlib.metadata.requires("ddz-env") or []
    always = [line for line in declared if "extra ==" not in line]
    assert {line.split(">")[0].strip() for line in always} == {
        "gymnasium",
        "numba",
        "numpy",
        "pettingzoo",
    }


def test_only_declared_packages_are_imported():
    standard = set(sys.stdlib_module_names)
    for path in modules("ddz_env"):
        names = imported(path) - standard
        extra = DRAWING.get(path.name, set())
        assert names <= {"ddz_env", "gymnasium", "numba", "numpy", "pettingzoo"} | extra, path


def editable():
    """Whether this checkout is what is installed."""
    record = importlib.metadata.distribution("ddz-env").read_text("direct_url.json")
    return bool(record) and json.loads(record).get("dir_info", {}).get("editable", False)


@pytest.mark.parametrize("folder", ORDER)
def test_folders_of_the_checkout_are_importable(folder):
    if not editable():
        pytest.skip("the package is not installed editable")
    packages = [path for path in modules(folder) if path.name == "__init__.py"]
    if not packages:
        pytest.skip(f"{folder} has no package")
    module = importlib.import_module(folder)
    assert Path(module.__file__).resolve().parent == (ROOT / folder).resolve()


def test_no_test_hides_another():
    """Test modules are imported by bare name: a helper must not have the name of a package."""
    names = {path.stem for path in (ROOT / "tests").glob("*.py")}
    assert "deals" in names
    assert not names & {*ORDER, *sys.stdlib_module_names}
