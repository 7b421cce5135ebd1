"""The dependency order of the packages, and the engine's privacy.

A package here is a file or a folder of one of the three layers. It imports only from packages above
it in the list, and its files have no import cycle. A module that a text names counts as imported.
Each rule is a function from sources to what breaks it, and is tested on a planted fault.
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

GAME_ORDER = [
    *("arrays", "tiles", "errors", "actions", "checks", "rules", "information"),
    *("hands", "seeds", "engine"),
    *("render", "views", "agent", "worlds", "text", "rounds", "game", "records"),
    *("envs", "goita_v0", "consistency"),
    *("uke_shogi", "uke_shogi_v0", "testing", "open_spiel"),
]
AGENT_ORDER = [
    *("base", "faults", "files", "compiling", "registry", "identity", "asking", "principles"),
    *("models", "bots", "people"),
    *("solver", "beliefs", "search", "champion", "external", "population"),
]
LAB_ORDER = [
    *("cli", "record_files", "provenance", "phases", "store", "work"),
    *("arena", "learning", "exact", "exploit", "signals", "imitate", "exam", "pages"),
    *("commands", "__main__"),
]
"""The packages from top to bottom."""

LAYERS = {"goita_env": GAME_ORDER, "goita_agents": AGENT_ORDER, "goita_lab": LAB_ORDER}

ORDER = []
for layer, order in LAYERS.items():
    parts = [f"{layer}.{name}" for name in order]
    # What a layer exports stands below all of its parts; goita_lab exports nothing.
    ORDER += [layer, *parts] if layer == "goita_lab" else [*parts, layer]

OPTIONAL = {
    ("goita_env.records.kifu", "yaml"),
    ("goita_env.render.pixels", "resvg_py"),
    ("goita_env.render.pixels", "PIL"),
}
"""What a file imports in a function, and says which extra it is of where it is missing."""
WHOLE = {("goita_env.open_spiel", "pyspiel")}
"""Files that are of an extra as a whole, and no other file imports."""

CORE_NEEDS = {"numpy", "gymnasium", "pettingzoo"}
HEAVY = {
    "goita_agents",
    "goita_lab",
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "numba",
    "ray",
    "yaml",
    "scipy",
}
HEAVY |= {"resvg_py", "PIL"}
TORCH = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard"}

ENGINE, SOLVER_API = "goita_env.engine", "goita_env.engine.solver_api"
QUOTED = re.compile(r"^\s*(?:from|import) (goita_env\.engine[\w.]*)", re.MULTILINE)
"""An import of the engine, also in a program that a file holds as text."""


def sources(*places: str) -> dict[str, str]:
    """Reads Python files below the checkout: text by the module's full name."""
    found = {}
    for place in places:
        root = ROOT / "agents" if place == "goita_agents" else ROOT
        for path in chain(root.glob(f"{place}.py"), (root / place).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(part for part in parts if part != "__init__")
            found[name] = path.read_text(encoding="utf-8")
    return found


GAME = sources("goita_env")
AGENTS = sources("goita_agents", "goita_lab")
BOTH = GAME | AGENTS
OUTSIDE = AGENTS | sources("examples", "benchmarks", "research", "tools", "train", "evaluate")


@cache
def imports(text: str) -> list[tuple[str, bool]]:
    """Lists the modules that a text imports, and whether it does so inside a function.

    A string that is a module's name, as ``import_module`` takes it, counts as an import in one.
    """
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
        elif isinstance(node, ast.Constant) and node.value in BOTH:
            found.append((node.value, True))
        found += [(name, id(node) in inside) for name in names]
    return found


def subpackage(module: str) -> str:
    """Returns the package of a module: "goita_env.envs" of "goita_env.envs.vector"."""
    return ".".join(module.split(".")[:2])


def package(module: str) -> str:
    """Returns the package that a module belongs to."""
    return module.split(".", maxsplit=1)[0]


def upward(texts: dict[str, str]) -> set[tuple[str, str]]:
    """Finds what a file imports from a package below its own: (file, module)."""
    return {
        (name, module)
        for name, text in texts.items()
        for module, _ in imports(text)
        if package(module) in LAYERS
        and ORDER.index(subpackage(module)) > ORDER.index(subpackage(name))
    }


def cycle(texts: dict[str, str]) -> list[str]:
    """Finds files that import each other in a cycle; a package's __init__ is one of them."""
    needs = {
        # A file's own name is no import.
        name: {module for module, _ in imports(text) if module in texts} - {name}
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
        if package(module) not in known
        and (name, package(module)) not in (OPTIONAL | WHOLE if inside else WHOLE)
    }


def with_torch(texts: dict[str, str]) -> set[str]:
    """Finds the packages that import torch or what is built on it."""
    return {
        subpackage(name)
        for name, text in texts.items()
        if any(package(module) in TORCH for module, _ in imports(text))
    }


def past_the_interface(texts: dict[str, str]) -> set[str]:
    """Finds files outside goita_env that import the engine; the solver may import its interface."""
    return {
        name
        for name, text in texts.items()
        for module in [*QUOTED.findall(text), *(module for module, _ in imports(text))]
        if subpackage(module) == ENGINE
        and (subpackage(name), module) != ("goita_agents.solver", SOLVER_API)
    }


ASKED = {"act": 3, "probabilities": 2, "beliefs": 1, "begin": 3, "redeal": 2, "end": 3}
"""Methods of an agent, with the number of their arguments."""
ASKS = {"goita_agents.asking", "goita_agents.models"}
"""Files that call them: the place where answers are checked, and ``PolicyModel``."""


def bare_calls(texts: dict[str, str]) -> set[tuple[str, str]]:
    """Finds where a method of an agent is called past ``goita_agents.asking``: (file, call).

    The wrappers of bots/ may call what they wrap. A call of ``self`` is a class's own, and what is
    named a model has the method ``probabilities`` of ``OpponentModel``.
    """
    found = set()
    for name, text in texts.items():
        if name in ASKS or name.startswith("goita_agents.bots."):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            arguments = len(node.args) + len(node.keywords)
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            if ASKED.get(node.func.attr) != arguments and not (starred and node.func.attr in ASKED):
                continue
            receiver = ast.unparse(node.func.value)
            if receiver not in ("self", "super()") and not receiver.lower().endswith("model"):
                found.add((name, ast.unparse(node.func)))
    return found


def built_elsewhere(texts: dict[str, str]) -> set[str]:
    """Finds files of goita_lab that build agents past ``goita_agents.asking``."""
    return {
        name
        for name, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name | ast.Attribute | ast.alias)
        and "load_agent" in (getattr(node, key, "") for key in ("id", "attr", "name"))
    }


def checkers(texts: dict[str, str]) -> set[str]:
    """Finds the files outside goita_env that import what tests agents."""
    return {
        name
        for name, text in texts.items()
        if "goita_env.testing" in (module for module, _ in imports(text))
    }


def test_the_order_lists_every_package():
    assert {subpackage(name) for name in BOTH} == set(ORDER)
    assert len(ORDER) == len(set(ORDER))


def test_the_page_lists_the_packages_in_order():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for title, order in LAYERS.items():
        table = page.split(f"| `{title}` | contents |\n|---|---|\n")[1].split("\n\n")[0]
        rows = [line.split("|")[1] for line in table.splitlines()]
        listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        assert listed == [name for name in order if name != "__main__"]


def test_files_that_the_page_names_are_there():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("## Where does a change begin?")[1].split("## What is generated")[0]
    named = re.findall(r"`([\w./]+\.(?:py|html|json|toml|md))`", table)
    folders = ("goita_env", "agents", "goita_lab", "docs", "research", "tests", "tools")
    files = [f"/{name}" for name in ("pyproject.toml", "README.md")]
    files += [file.as_posix() for name in folders for file in (ROOT / name).rglob("*.*")]
    short = {"env": "goita_env", "agents": "agents/goita_agents", "lab": "goita_lab"}
    for name in named:
        first, _, rest = name.partition("/")
        path = f"{short.get(first, first)}/{rest}" if rest else name
        assert any(file.endswith(f"/{path}") for file in files), name
    assert len(named) > 50


RULES = {
    "a package imports only from packages above it": (upward, BOTH, set()),
    "no import cycle": (cycle, BOTH, []),
    "the core imports numpy, gymnasium and pettingzoo alone": (foreign, GAME, set()),
    "only learning imports torch": (with_torch, BOTH, {"goita_lab.learning"}),
    # A pool of opponents acts for many agents, and sentences say how a round ended.
    "agents are asked in one place": (
        bare_calls,
        AGENTS,
        {
            ("goita_lab.learning.ppo", "self.pool.act"),
            ("goita_lab.pages.play.replies", "sentences.end"),
            ("goita_lab.pages.play.table", "sentences.end"),
        },
    ),
    "agents are built in one place": (built_elsewhere, sources("goita_lab"), set()),
    "only goita check tests agents": (checkers, AGENTS, {"goita_lab.commands.check"}),
    # That of the benchmarks times the tables.
    "only the solver imports the engine": (past_the_interface, OUTSIDE, {"benchmarks.startup"}),
}


@pytest.mark.parametrize(("breaks", "texts", "found"), RULES.values(), ids=RULES)
def test_a_rule_is_kept(breaks, texts, found):
    assert breaks(texts) == found


def test_no_import_is_relative():
    assert [name for name, text in BOTH.items() for it, _ in imports(text) if it[0] == "."] == []


IMPORT = """
import sys
import {module}
print(*sorted(name for name in sys.modules if name.split(".")[0] in {heavy!r}))
"""


@pytest.mark.parametrize("module", ["goita_env", "goita_env.testing", "goita_env.records.kifu"])
def test_importing_the_core_imports_nothing_heavy(module):
    code = IMPORT.format(module=module, heavy=HEAVY)
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_a_planted_import_from_a_package_below_is_caught():
    text = (
        "from goita_env import tiles, views\n"
        "from goita_env.envs.vector import StepResult\n"
        "import goita_env\n"
        "import goita_agents.base\n"
        "def draw():\n"
        "    from goita_env import game\n"
    )
    assert {module for _, module in upward({"goita_env.engine.core": text})} == {
        *("goita_env.views", "goita_env.envs.vector", "goita_env", "goita_agents.base"),
        "goita_env.game",
    }
    assert upward({"goita_agents.bots.greedy": "from goita_agents import load_agent, search"}) == {
        ("goita_agents.bots.greedy", "goita_agents"),
        ("goita_agents.bots.greedy", "goita_agents.search"),
    }


def test_an_import_by_text_is_caught():
    text = "from importlib import import_module\nimport_module('goita_lab.learning')"
    assert upward({"goita_agents.bots.greedy": text}) == {
        ("goita_agents.bots.greedy", "goita_lab.learning")
    }


def test_a_layer_has_nine_packages_at_most():
    for layer in LAYERS:
        folders = {
            name.split(".")[1]
            for name in BOTH
            if name.startswith(f"{layer}.") and name.count(".") > 1
        }
        assert len(folders) <= 9, (layer, folders)


def test_a_planted_cycle_is_caught():
    one = {
        "goita_env.views": "from goita_env.views import observation",
        "goita_env.views.observation": "from goita_env.views import fields",
        "goita_env.views.fields": "",
    }
    assert cycle(one) == []
    assert cycle(one | {"goita_env.views.fields": "from goita_env.views import View"})
    assert cycle(one | {"goita_env.views.fields": "import goita_env.views.observation"})


def test_a_planted_import_of_another_package_is_caught():
    in_a_function = "def load():\n    import yaml"
    assert foreign({"goita_env.records.kifu": in_a_function}) == set()
    assert foreign({"goita_env.records.kifu": "import yaml"})
    assert foreign({"goita_env.records.history": in_a_function})
    assert foreign({"goita_env.game": "from scipy.stats import norm"})


def test_a_planted_import_of_torch_is_caught():
    assert with_torch({"goita_agents.bots.network": "def load():\n    from torch import nn"})


def test_a_planted_call_of_an_agent_is_caught():
    asks = "def f(agent, view, legal):\n    return agent.probabilities(view, legal)"
    assert bare_calls({"goita_lab.exam.answers": asks})
    assert bare_calls({"goita_lab.exam.answers": "built[0].act(*question, rng)"})
    assert bare_calls({"goita_lab.exam.answers": "agent.at(1.0).probabilities(view, legal=legal)"})
    assert not bare_calls({"goita_agents.bots.wrapped": asks, "goita_agents.asking": asks})
    assert not bare_calls({"goita_agents.beliefs.types": "self.model.probabilities(view, legal)"})


def test_a_planted_builder_of_agents_is_caught():
    assert built_elsewhere({"goita_lab.exam": "from goita_agents.registry import load_agent"})
    assert built_elsewhere({"goita_lab.exam": "agent = registry.load_agent('greedy')"})
    assert checkers({"goita_agents.models": "from goita_env.testing import find_inconsistency"})


@pytest.mark.parametrize(
    ("name", "text", "caught"),
    [
        ("goita_agents.solver.position", "from goita_env.engine.solver_api import position", False),
        ("goita_agents.solver.position", "from goita_env.engine.state import State", True),
        ("goita_agents.solver", "def f():\n    from goita_env.engine import core", True),
        ("train", "import goita_env.engine", True),
        ("benchmarks.solver", "CODE = '''\nfrom goita_env.engine import tables\n'''", True),
    ],
)
def test_a_planted_import_past_the_interface_is_caught(name, text, caught):
    assert past_the_interface({name: text}) == ({name} if caught else set())
