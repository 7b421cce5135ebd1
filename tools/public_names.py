"""Lists all public names in tests/project/public_names.json: ``python tools/public_names.py``.

Public are the names that the reference documents, with the names of their parameters; exports of
the packages in the tables of the reference; options of commands; agents and their options; formats
of files; slices of the observation; names of rule sets, presets and principles. A test compares the
stored list with the code.
"""

import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
STORED: Final = ROOT / "tests/project/public_names.json"
DIRECTIVE: Final = re.compile(r"^\.\. auto(\w+):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)
"""What Sphinx documents: the kind of object, its name, and options such as ``:members: a, b``."""

EXPORTS: Final = re.compile(r"<!-- names: (\S+) \S+ -->")
FORMAT: Final = re.compile(r'"(goita-[a-z-]+-\d+)"')
SOURCES: Final = ("goita_env", "agents", "goita_lab")

Names = dict[str, list[str]]


def public_names() -> Names:
    """Returns the public names of the checkout by kind, each list sorted.

    Raises:
        ModuleNotFoundError: if an extra is missing.
    """
    from goita_agents.principles import PRINCIPLES
    from goita_env.rules import RULE_SETS
    from goita_env.views.observation import SLICES
    from goita_lab.learning.settings import PRESETS

    names = {
        "python": documented_names(),
        "commands": command_options(),
        "agents": agent_options(),
        "formats": formats(),
        "observation slices": [piece.name for piece in SLICES],
        "rule sets": RULE_SETS,
        "training presets": PRESETS,
        "principles": [principle.key for principle in PRINCIPLES],
    }
    return {kind: sorted(set(values)) for kind, values in names.items()}


def documented_names() -> list[str]:
    """Returns the names that pages document, methods and functions with their parameters."""
    pages = [
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if "_build" not in path.parts
    ]
    names: list[str] = []
    for page in pages:
        for kind, path, options in DIRECTIVE.findall(page):
            names += described(kind, path, options)
        for module in EXPORTS.findall(page):
            exports = importlib.import_module(module).__all__
            names += [signature(f"{module}.{name}", resolve(module, name)) for name in exports]
    return names


def described(kind: str, path: str, options: str) -> Iterator[str]:
    """Yields the names that one directive of Sphinx documents."""
    listed = dict(re.findall(r":([\w-]+): ?(.*)", options))
    members = re.findall(r"\w+", listed.get("members", ""))
    if kind == "module":
        module = importlib.import_module(path)
        excluded = re.findall(r"\w+", listed.get("exclude-members", ""))
        if "members" not in listed:
            return
        for name in members or set(exported(module)) - set(excluded):
            yield from of_object(f"{path}.{name}", resolve(path, name))
        return
    module_name, _, name = path.rpartition(".")
    yield from of_object(path, resolve(module_name, name), members)


def exported(module: ModuleType) -> list[str]:
    """Returns the names that ``automodule`` documents: __all__, or those defined in the module."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = [name for name, value in vars(module).items() if _is_of(module, value)]
    return [name for name in (*own, *module.__annotations__) if not name.startswith("_")]


def _is_of(module: ModuleType, value: Any) -> bool:
    is_object = inspect.isclass(value) or inspect.isroutine(value)
    return is_object and value.__module__ == module.__name__


def of_object(path: str, value: Any, members: list[str] | None = None) -> Iterator[str]:
    """Yields the name of an object, and of a class also those of its attributes and methods.

    Args:
        path: the object's name with its module.
        value: the object.
        members: the attributes that the page lists; none: all public ones of our classes.
    """
    yield signature(path, value)
    if not inspect.isclass(value):
        return
    ours = [base for base in value.__mro__ if base.__module__.startswith("goita_")]
    for base in ours:
        for name in {**vars(base), **inspect.get_annotations(base)}:
            if name in members if members else not name.startswith("_"):
                yield signature(f"{path}.{name}", inspect.getattr_static(base, name, None))


def resolve(module: str, name: str) -> Any:
    """Returns an object of a module."""
    return getattr(importlib.import_module(module), name)


def signature(path: str, value: Any) -> str:
    """Returns a name, with the names of the parameters if it can be called."""
    value = getattr(value, "__func__", value)  # a class method or static method
    if inspect.isclass(value) and not callable_with_names(value):
        return path
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return path
    parameters = inspect.signature(value).parameters
    return f"{path}({', '.join(name for name in parameters if name not in ('self', 'cls'))})"


def callable_with_names(cls: type) -> bool:
    """Returns whether users build a class by parameters that it defines itself."""
    is_abstract = getattr(cls, "_is_protocol", False) or issubclass(cls, BaseException)
    return not is_abstract and (is_dataclass(cls) or "__init__" in vars(cls))


def command_options() -> list[str]:
    """Returns the commands with their options: ``goita evaluate --deals``."""
    from goita_lab.__main__ import COMMANDS
    from goita_lab.learning.settings import Options, Origins

    names = []
    for command, module_name in COMMANDS.items():
        module = importlib.import_module(f"goita_lab.{module_name}")
        groups = {
            f"{command} {word}": [cls] for word, cls in vars(module).get("COMMANDS", {}).items()
        }
        classes = [Options, Origins] if command == "train" else [vars(module).get("Args")]
        for words, kinds in (groups or {command: classes}).items():
            names += [f"goita {words}"]
            names += [f"goita {words} {option(field)}" for cls in kinds for field in fields(cls)]
    return names


def option(field: Field[Any]) -> str:
    """Returns how a field of a command's dataclass is written on the command line."""
    if field.metadata.get("positional"):
        return field.name.upper()
    flags = [f"--{field.name.replace('_', '-')}"]
    if "short" in field.metadata:
        flags.append(field.metadata["short"])
    return " ".join(flags)


def agent_options() -> list[str]:
    """Returns the built-in agents with their arguments and options: ``rollout:worlds=``."""
    from goita_agents.registry import ARGUMENTS, Entry, entry_points_by_name, options_of
    from goita_env.agent import is_built_in

    names = []
    for name, point in entry_points_by_name().items():
        if not is_built_in(point):
            continue
        loaded = point.load()
        entry = loaded if isinstance(loaded, Entry) else Entry(loaded)
        text = f"{name}:{ARGUMENTS[name]}" if name in ARGUMENTS else name
        names.append(text)
        if entry.options:
            options = options_of(entry.factory, num_positional=1 if entry.argument else 0)
            names += [f"{text}{',' if entry.argument else ':'}{option}=" for option in options]
    return names


def formats() -> list[str]:
    """Returns the formats of files that the code writes or reads."""
    texts = [
        path.read_text(encoding="utf-8")
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*.py")
    ]
    return FORMAT.findall("\n".join(texts))


def difference(stored: Names, names: Names) -> list[str]:
    """Returns a line for each name that is in one of two lists only: ``- gone`` or ``+ new``."""
    lines = []
    for kind in sorted({*stored, *names}):
        before, now = set(stored.get(kind, [])), set(names.get(kind, []))
        lines += [f"- {kind}: {name}" for name in sorted(before - now)]
        lines += [f"+ {kind}: {name}" for name in sorted(now - before)]
    return lines


def main() -> None:
    """Writes the list, and prints what has changed."""
    names = public_names()
    stored = json.loads(STORED.read_bytes()) if STORED.exists() else {}
    STORED.write_text(f"{json.dumps(names, indent=1)}\n", encoding="utf-8")
    sys.stdout.writelines(f"{line}\n" for line in difference(stored, names))


if __name__ == "__main__":
    main()
