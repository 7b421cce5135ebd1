"""The public names are the listed ones; and the tree of exceptions."""

import importlib
import inspect
import pkgutil
import re

import goita_env
from goita_env import errors

FOUND = pkgutil.walk_packages(goita_env.__path__, "goita_env.")
MODULES = [goita_env, *(importlib.import_module(one.name) for one in FOUND)]


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
