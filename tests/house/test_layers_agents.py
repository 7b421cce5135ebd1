"""Data flows down the page in ``agents`` too: a file imports only from files above it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "agents"

LAYERS = [
    "cli",
    "base",
    "faults",
    "registry",
    "statistics",
    "bots",
    "solver",
    "search",
    "external",
    "tournament",
    "grading",
    "report",
    "learning",
    "__init__",
]
"""Files and folders of the package from top to bottom; bots stand above the registry."""

TORCH = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard"}


def layer(path: Path) -> str:
    """Returns the layer of a file: its folder's, or its own."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imports(path: Path) -> set[str]:
    """Lists the modules that a file imports as it is loaded, without the packages' names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.If)  # also what only a program does
        for child in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in inside:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "agents":
            found |= {f"agents.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_file_of_the_agents_has_its_layer():
    assert {layer(path) for path in FILES} == set(LAYERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_of_the_agents_imports_only_from_layers_above(path):
    here = LAYERS.index(layer(path))
    for name in imports(path):
        if name.startswith("agents."):
            there = LAYERS.index(name.split(".")[1])
            assert there < here or layer(path) == LAYERS[there], name


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_learning_imports_torch(path):
    if layer(path) != "learning":
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            (alias.name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not names & TORCH
