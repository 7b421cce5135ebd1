"""The public names: few, listed, with docstrings; and the drawn tree of exceptions."""

import ast
import enum
import importlib
import inspect
import pkgutil
import re
import types
from functools import cached_property

import pytest

import goita_env
from goita_env import errors, goita_v0

MODULES = ["goita_env"] + [
    one.name for one in pkgutil.walk_packages(goita_env.__path__, "goita_env.")
]

PROMISED = {
    *("goita_v0", "GoitaVectorEnv", "Game", "Rules", "JGA", "PAGAT", "NINE", "get_rules", "TEAMS"),
    *("actions", "records", "views"),
}
"""Names that others build on."""


def test_at_most_25_names_are_public():
    assert len(goita_env.__all__) <= 25
    assert len(set(goita_env.__all__)) == len(goita_env.__all__)


def test_the_promised_names_are_among_them():
    assert set(goita_env.__all__) >= PROMISED


def test_every_listed_name_exists():
    for name in goita_env.__all__:
        assert hasattr(goita_env, name)


def test_nothing_else_leaks():
    others = {
        name
        for name, value in vars(goita_env).items()
        if not name.startswith("_")
        and name not in goita_env.__all__
        # Submodules become attributes of their package whoever imports them.
        and not (isinstance(value, types.ModuleType) and value.__name__ == f"goita_env.{name}")
    }
    assert others == set()


def test_a_star_import_brings_exactly_the_listed_names():
    found = {}
    exec("from goita_env import *", found)
    assert set(found) - {"__builtins__"} == set(goita_env.__all__)


def test_goita_v0_offers_its_three_environments():
    assert sorted(goita_v0.__all__) == ["env", "parallel_env", "raw_env"]


def test_the_package_is_typed_and_has_a_version():
    assert (importlib.resources.files("goita_env") / "py.typed").is_file()
    assert re.fullmatch(r"\d+\.\d+\.\d+", goita_env.__version__)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_thing_has_a_docstring(name):
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), name
    for thing in public(vars(module), name):
        assert inspect.getdoc(thing), f"{name}: {thing}"
        if inspect.isclass(thing) and not issubclass(thing, enum.Enum):
            for member in members(thing):
                assert inspect.getdoc(member), f"{name}.{thing.__name__}: {member}"


def public(names, module):
    """Yields the public classes and functions that a module defines."""
    for name, thing in names.items():
        is_own = getattr(thing, "__module__", None) == module
        if not name.startswith("_") and is_own and (inspect.isclass(thing) or callable(thing)):
            yield thing


def members(cls):
    """Yields the public methods and properties that a class defines itself."""
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(member, staticmethod | classmethod):
            yield member.__func__
        elif isinstance(member, property | cached_property | types.FunctionType):
            yield member


# ------------------------------------------------------------------------------------- exceptions


def drawn_tree() -> dict[str, str]:
    """Reads the drawing: each class and its parent."""
    parents, stack = {}, []
    for line in errors.__doc__.splitlines():
        match = re.match(r"^(\s*)([│├└─ ]*?)(\w+Error)\b", line)
        if match is None or (not stack and "(" not in line):
            continue
        depth = len(match[1] + match[2])
        while stack and stack[-1][0] >= depth:
            stack.pop()
        parents[match[3]] = stack[-1][1] if stack else re.search(r"\((\w+)\)", line)[1]
        stack.append((depth, match[3]))
    return parents


def test_the_tree_drawn_in_errors_is_the_tree_of_the_classes():
    classes = [
        thing
        for thing in vars(errors).values()
        if inspect.isclass(thing) and issubclass(thing, BaseException)
    ]
    real = {one.__name__: one.__bases__[0].__name__ for one in classes}
    assert all(len(one.__bases__) == 1 for one in classes)
    assert drawn_tree() == real
    assert len(real) >= 8


def test_no_other_module_defines_an_exception():
    for name in MODULES:
        for thing in public(vars(importlib.import_module(name)), name):
            if inspect.isclass(thing) and issubclass(thing, BaseException):
                assert name == "goita_env.errors", thing


def raised(text: str) -> set[str]:
    """Returns the errors that a module raises by their names."""
    return {
        node.exc.func.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
    }


def test_every_error_is_raised_somewhere():
    modules = [importlib.import_module(name) for name in MODULES]
    found = set[str]().union(*(raised(inspect.getsource(module)) for module in modules))
    assert drawn_tree().keys() - {"GoitaError"} <= found


def test_an_error_that_is_only_defined_or_spoken_of_is_not_raised():
    text = 'class OldError(ValueError):\n    """Is no raise OldError(...)."""\n'
    assert raised(text) == set()
    assert raised(text + "raise OldError('expected more') from None") == {"OldError"}
