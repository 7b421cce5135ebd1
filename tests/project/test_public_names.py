"""The public names are the listed ones; and the tree of exceptions."""

import ast
import importlib
import inspect
import pkgutil
import re
import types

import goita_env
from goita_env import errors

FOUND = pkgutil.walk_packages(goita_env.__path__, "goita_env.")
MODULES = [goita_env, *(importlib.import_module(one.name) for one in FOUND)]


def test_nothing_else_leaks():
    others = {
        name
        for name, value in vars(goita_env).items()
        if not name.startswith("_")
        and name not in goita_env.__all__
        # Any import of a submodule makes it an attribute of its package.
        and not (isinstance(value, types.ModuleType) and value.__name__ == f"goita_env.{name}")
    }
    assert others == set()


def test_a_star_import_brings_exactly_the_listed_names():
    found = {}
    exec("from goita_env import *", found)
    assert set(found) - {"__builtins__"} == set(goita_env.__all__)


def test_the_package_is_typed_and_has_a_version():
    assert (importlib.resources.files("goita_env") / "py.typed").is_file()
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", goita_env.__version__)


def exceptions(module):
    """Yields the exceptions that a module defines."""
    for thing in vars(module).values():
        is_own = getattr(thing, "__module__", None) == module.__name__
        if is_own and inspect.isclass(thing) and issubclass(thing, BaseException):
            yield thing


def test_every_error_is_a_goita_error_and_a_value_error():
    assert issubclass(errors.GoitaError, ValueError)
    assert all(issubclass(error, errors.GoitaError) for error in exceptions(errors))


def test_no_other_module_defines_a_public_exception():
    others = [one for module in MODULES if module is not errors for one in exceptions(module)]
    assert [one for one in others if not one.__name__.startswith("_")] == []


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
    found = set[str]().union(*(raised(inspect.getsource(module)) for module in MODULES))
    assert {error.__name__ for error in exceptions(errors)} - {"GoitaError"} <= found


def test_an_error_that_is_only_defined_or_spoken_of_is_not_raised():
    text = 'class OldError(ValueError):\n    """Is no raise OldError(...)."""\n'
    assert raised(text) == set()
    assert raised(text + "raise OldError('expected more') from None") == {"OldError"}
