"""The layers of the package: a file imports only from files above it, and nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "goita_env"

LAYERS = [
    "tiles",
    "errors",
    "actions",
    "checks",
    "rules",
    "hands",
    "seeds",
    "engine",
    "views",
    "worlds",
    "render",
    "game",
    "records",
    "envs",
    "goita_v0",
    "testing",
    "__init__",
]
"""Files and folders of the package from top to bottom."""

DRAWING = "render"
"""What a function may import wherever it stands, because only drawing needs it."""

THIRD_PARTIES = {"numpy", "gymnasium", "pettingzoo"}
HEAVY = ("agents", "torch", "stable_baselines3", "sb3_contrib", "numba", "ray", "yaml", "scipy")

FILES = sorted(PACKAGE.rglob("*.py"))


def layer(name: str) -> str:
    """Returns the layer of a module given below the package: "envs.aec" is of "envs"."""
    return name.split(".", maxsplit=1)[0] or "__init__"


def name_of(path: Path) -> str:
    """Returns the name of a file's module below the package: "core", "envs.aec", ""."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {name_of(path): path for path in FILES}


def imports(path: Path) -> list[tuple[str, bool]]:
    """Lists what a file imports, and whether it does so inside a function."""
    found = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            module = node.module or ""
            for alias in node.names:
                below = f"{module}.{alias.name}".removeprefix("goita_env.")
                is_module = module.startswith("goita_env") and below in MODULES
                names.append(f"{module}.{alias.name}" if is_module else module)
        found += [(name, id(node) in inside) for name in names]
    return found


def own(name: str) -> str | None:
    """Returns the name below the package, None for other packages."""
    if name == "goita_env":
        return ""
    return name.removeprefix("goita_env.") if name.startswith("goita_env.") else None


def test_every_file_has_its_layer():
    assert {layer(name) for name in MODULES} <= set(LAYERS)
    assert len(LAYERS) == len(set(LAYERS))


def upward(name: str, path: Path) -> list[str]:
    """Lists what a file imports from below its layer; files of one folder may import each other."""
    here = LAYERS.index(layer(name))
    wrong = []
    for imported, inside in imports(path):
        below = own(imported)
        if below is None or (inside and layer(below) == DRAWING):
            continue
        there = LAYERS.index(layer(below))
        if there > here or (there == here and below == name):
            wrong.append(imported)
    return wrong


@pytest.mark.parametrize("name", MODULES)
def test_a_file_imports_only_from_layers_above(name):
    assert upward(name, MODULES[name]) == []


def test_a_planted_import_from_below_is_caught(tmp_path):
    path = tmp_path / "engine.py"
    path.write_text(
        "from goita_env import views\n"
        "from goita_env.envs.vector import Turn\n"
        "import goita_env\n"
        "def draw():\n"
        "    from goita_env.render import ansi\n"
        "    from goita_env import views\n"
    )
    assert sorted(upward("engine", path)) == [
        "goita_env",
        "goita_env.envs.vector",
        "goita_env.views",
        "goita_env.views",
    ]


def test_the_files_of_one_folder_import_each_other_without_cycles():
    edges = {
        name: {own(imported) for imported, inside in imports(path) if not inside} - {None}
        for name, path in MODULES.items()
    }
    done: set[str] = set()
    left = set(edges)
    while left:
        free = {name for name in left if edges[name] - {name} <= done}
        # A folder's __init__ may import its own files, which import nothing from it.
        assert free, f"these import each other in a circle: {sorted(left)}"
        done |= free
        left -= free


@pytest.mark.parametrize("name", MODULES)
def test_a_file_imports_nothing_heavy_and_no_other_package(name):
    for imported, inside in imports(MODULES[name]):
        root = imported.split(".")[0]
        if root == "yaml":
            assert (name, inside) == ("records.kifu", True)
        else:
            is_known = root in THIRD_PARTIES | {"goita_env"} | sys.stdlib_module_names
            assert is_known, f"{name} imports {imported}"


IMPORT = """
import sys
import {module}
print(*sorted(name for name in sys.modules if name.split(".")[0] in {heavy!r}))
print(*sorted(name for name in sys.modules if name.startswith("goita_env.render.")))
"""


@pytest.mark.parametrize("module", ["goita_env", "goita_env.testing", "goita_env.records.kifu"])
def test_importing_the_package_imports_nothing_heavy_and_no_drawing(module):
    code = IMPORT.format(module=module, heavy=HEAVY)
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []
