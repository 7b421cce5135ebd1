"""The rooms of the house: data flows down them, and the engine behind its door stays private.

A room is a file or a folder of one of the two packages. It imports only from rooms above it; inside
a room there is no circle between files. Each rule is a function from sources to what breaks it, and
has been seen to catch what it is there for.
"""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

GAME_ROOMS = [
    *("tiles", "errors", "actions", "checks", "rules", "hands", "seeds", "engine", "views"),
    *("worlds", "render", "rounds", "game", "records", "envs", "goita_v0", "uke_shogi"),
    *("uke_shogi_v0", "testing"),
]
AGENT_ROOMS = [
    *(
        "base",
        "answers",
        "cli",
        "faults",
        "files",
        "store",
        "parts",
        "registry",
        "statistics",
        "bots",
    ),
    *("solver", "beliefs", "search", "champion", "external", "tournament", "attack"),
    *("check", "grading", "report", "learning", "signals", "watch", "play"),
]
"""The rooms from top to bottom."""

HOUSE = [
    *(f"goita_env.{room}" for room in GAME_ROOMS),
    "goita_env",  # what a package itself hands out stands below all of its rooms
    *(f"agents.{room}" for room in AGENT_ROOMS),
    "agents",
]

OPTIONAL = {
    ("goita_env.records.kifu", "yaml"),
    ("goita_env.render.pixels", "resvg_py"),
    ("goita_env.render.pixels", "PIL"),
}
"""What a file imports in a function, and says which extra it is of where it is missing."""

CORE_NEEDS = {"numpy", "gymnasium", "pettingzoo"}
HEAVY = {"agents", "torch", "stable_baselines3", "sb3_contrib", "numba", "ray", "yaml", "scipy"}
HEAVY |= {"resvg_py", "PIL"}
TORCH = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard"}

DRAWING = "goita_env.render"
"""What a function may import wherever it stands, because only drawing needs it."""

ENGINE, DOOR = "goita_env.engine", "goita_env.engine.door"
QUOTED = re.compile(r"^\s*(?:from|import) (goita_env\.engine[\w.]*)", re.MULTILINE)
"""An import of the engine, also in a program that a file holds as text."""


# ----------------------------------------------------------------------------------------- sources


def sources(*places: str) -> dict[str, str]:
    """Reads Python files below the checkout: text by the module's full name."""
    found = {}
    for place in places:
        for path in chain(ROOT.glob(f"{place}.py"), (ROOT / place).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(part for part in parts if part != "__init__")
            found[name] = path.read_text(encoding="utf-8")
    return found


GAME = sources("goita_env")
AGENTS = sources("agents")
BOTH = GAME | AGENTS
OUTSIDE = AGENTS | sources("examples", "benchmarks", "tools", "train", "evaluate")


@cache
def imports(text: str) -> list[tuple[str, bool]]:
    """Lists the modules that a text imports, and whether it does so inside a function."""
    tree, found = ast.parse(text), []
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
            base = "." * node.level + (node.module or "")
            below = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in BOTH else base for name in below]
        found += [(name, id(node) in inside) for name in names]
    return found


def room(module: str) -> str:
    """Returns the room of a module: "goita_env.envs.aec" is in "goita_env.envs"."""
    return ".".join(module.split(".")[:2])


def package(module: str) -> str:
    """Returns the package that a module belongs to."""
    return module.split(".", maxsplit=1)[0]


# -------------------------------------------------------------------------------------- the rules


def upward(texts: dict[str, str]) -> set[tuple[str, str]]:
    """Finds what a file imports from a room below its own: (file, module)."""
    return {
        (name, module)
        for name, text in texts.items()
        for module, inside in imports(text)
        if package(module) in {"goita_env", "agents"}
        and HOUSE.index(room(module)) > HOUSE.index(room(name))
        and not (inside and room(module) == DRAWING)
    }


def circle(texts: dict[str, str]) -> list[str]:
    """Finds files that import each other in a circle; a package's __init__ is one of them."""
    needs = {
        name: {module for module, inside in imports(text) if not inside and module in texts}
        for name, text in texts.items()
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def foreign(texts: dict[str, str]) -> set[tuple[str, str]]:
    """Finds what a file imports that the core does without: (file, module)."""
    known = CORE_NEEDS | {"goita_env"} | sys.stdlib_module_names
    return {
        (name, module)
        for name, text in texts.items()
        for module, inside in imports(text)
        if package(module) not in known and not (inside and (name, package(module)) in OPTIONAL)
    }


def with_torch(texts: dict[str, str]) -> set[str]:
    """Finds the rooms that import torch or what is built on it."""
    return {
        room(name)
        for name, text in texts.items()
        if any(package(module) in TORCH for module, _ in imports(text))
    }


def past_the_door(texts: dict[str, str]) -> set[str]:
    """Finds the files outside goita_env that import the engine other than the solver its door."""
    return {
        name
        for name, text in texts.items()
        for module in [*QUOTED.findall(text), *(module for module, _ in imports(text))]
        if room(module) == ENGINE and (room(name), module) != ("agents.solver", DOOR)
    }


# ------------------------------------------------------------------------------------ they are kept


def test_every_file_stands_in_a_room_of_the_house():
    assert {room(name) for name in BOTH} == set(HOUSE)
    assert len(HOUSE) == len(set(HOUSE))


def test_no_import_is_relative():
    assert [name for name, text in BOTH.items() for it, _ in imports(text) if it[0] == "."] == []


def test_a_room_imports_only_from_rooms_above_it():
    assert upward(BOTH) == set()


def test_no_files_import_each_other_in_a_circle():
    assert circle(BOTH) == []


def test_the_core_imports_numpy_gymnasium_and_pettingzoo_alone():
    assert foreign(GAME) == set()


def test_only_learning_imports_torch():
    assert with_torch(BOTH) == {"agents.learning"}


def test_nobody_but_the_solver_imports_the_engine_and_it_only_the_door():
    assert past_the_door(OUTSIDE) == {"benchmarks.startup"}  # it times the tables


IMPORT = """
import sys
import {module}
print(*sorted(name for name in sys.modules if name.split(".")[0] in {heavy!r}))
print(*sorted(name for name in sys.modules if name.startswith("goita_env.render.")))
"""


@pytest.mark.parametrize("module", ["goita_env", "goita_env.testing", "goita_env.records.kifu"])
def test_importing_the_core_imports_nothing_heavy_and_no_drawing(module):
    code = IMPORT.format(module=module, heavy=HEAVY)
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


# ----------------------------------------------------------------------- what breaks them is caught


def test_a_planted_import_from_a_room_below_is_caught():
    text = (
        "from goita_env import tiles, views\n"
        "from goita_env.envs.vector import Turn\n"
        "import goita_env\n"
        "import agents.base\n"
        "def draw():\n"
        "    from goita_env.render import ansi\n"
        "    from goita_env import game\n"
    )
    assert {module for _, module in upward({"goita_env.engine.core": text})} == {
        *("goita_env.views", "goita_env.envs.vector", "goita_env", "agents.base"),
        "goita_env.game",
    }
    assert upward({"agents.bots.greedy": "from agents import load_agent, search"}) == {
        ("agents.bots.greedy", "agents"),
        ("agents.bots.greedy", "agents.search"),
    }


def test_a_planted_circle_is_caught():
    one = {
        "goita_env.views": "from goita_env.views import observation",
        "goita_env.views.observation": "from goita_env.views import fields",
        "goita_env.views.fields": "",
    }
    assert circle(one) == []
    assert circle(one | {"goita_env.views.fields": "from goita_env.views import View"})
    assert circle(one | {"goita_env.views.fields": "import goita_env.views.observation"})


def test_a_planted_import_of_another_package_is_caught():
    in_a_function = "def load():\n    import yaml"
    assert foreign({"goita_env.records.kifu": in_a_function}) == set()
    assert foreign({"goita_env.records.kifu": "import yaml"})
    assert foreign({"goita_env.records.history": in_a_function})
    assert foreign({"goita_env.game": "from scipy.stats import norm"})


def test_a_planted_import_of_torch_is_caught():
    assert with_torch({"agents.bots.network": "def load():\n    from torch import nn"})


@pytest.mark.parametrize(
    ("name", "text", "caught"),
    [
        ("agents.solver.position", "from goita_env.engine.door import position", False),
        ("agents.solver.position", "from goita_env.engine.state import State", True),
        ("agents.solver", "def f():\n    from goita_env.engine import core", True),
        ("train", "import goita_env.engine", True),
        ("benchmarks.solver", "CODE = '''\nfrom goita_env.engine import tables\n'''", True),
    ],
)
def test_a_planted_import_past_the_door_is_caught(name, text, caught):
    assert past_the_door({name: text}) == ({name} if caught else set())
