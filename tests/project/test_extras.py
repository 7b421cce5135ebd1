"""Each module from outside comes with an extra that is named where the module is missing."""

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from goita_env import errors
from goita_lab import __main__ as command

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
BASE = {"numpy", "gymnasium", "pettingzoo"}
OWN = {"goita_env", "goita_agents", "goita_lab"}


def imported():
    """Returns the modules from outside that the packages import anywhere, with a file of each."""
    files = {}
    for folder in ("goita_env", "agents/goita_agents", "goita_lab"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_bytes())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                files |= {name.partition(".")[0]: file for name in names}
    outside = files.keys() - sys.stdlib_module_names - OWN - BASE - {"_typeshed", ""}
    return {name: files[name] for name in outside}


def brought_by(extra):
    """Returns the distributions of an extra, with those of the extras inside it."""
    names = set()
    for requirement in EXTRAS[extra]:
        name, inner = re.match(r"([\w-]+)(?:\[(.*?)\])?", requirement).groups()
        if name == "goita-env":
            for part in inner.split(","):
                names |= brought_by(part)
        else:
            names.add(name.lower().replace("_", "-"))
    return names


def test_every_module_from_outside_is_of_an_extra_that_brings_it():
    assert imported().keys() <= errors.EXTRAS.keys()
    assert {*command.EXTRAS_OF_COMMANDS.values(), *errors.EXTRAS.values()} <= EXTRAS.keys()
    distributions = metadata.packages_distributions()
    for module, extra in errors.EXTRAS.items():
        names = {name.lower().replace("_", "-") for name in distributions.get(module, ())}
        assert not names or names & brought_by(extra), f"{module} of [{extra}]"


@pytest.mark.parametrize(
    ("name", "extra"), [("evaluate", "lab"), ("signals", "signals"), ("train", "train")]
)
def test_a_command_without_its_extra_names_it_before_it_begins(name, extra, monkeypatch, capsys):
    monkeypatch.setattr(errors, "find_spec", lambda module: None)
    monkeypatch.setattr(command, "import_module", lambda _: pytest.fail("the command has begun"))
    with pytest.raises(SystemExit) as ended:
        command.main([name])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert f"which needs the extra [{extra}]: pip install" in told
    assert told.startswith(f"goita {name}: No module named")


def test_a_package_names_the_extra_of_a_module_that_is_missing():
    missing = ModuleNotFoundError("No module named 'pyarrow.x'", name="pyarrow.x")
    with (
        pytest.raises(ModuleNotFoundError, match=r"needs the extra \[signals\]") as error,
        errors.naming_extras(),
        errors.naming_extras(),
    ):
        raise missing
    assert error.value.name == "pyarrow.x"
    assert str(error.value).count("needs the extra") == 1
    other = ModuleNotFoundError("No module named 'elsewhere'", name="elsewhere")
    expected = pytest.raises(ModuleNotFoundError, match=r"^No module named 'elsewhere'$")
    with expected, errors.naming_extras():
        raise other
