"""Identifies agents by the SHA-256 of every file that a text, or the agent itself, names.

The digest of an agent covers

- the networks of this distribution in its text, and those of ``file:PATH``;
- of a user's class the file that defines it, and the modules that importing it loads from the
  working directory or from the folder of its module;
- each of its options, given or by default, that is the path of a file or of a folder;
- of ``exec:COMMAND`` each word that is the path of a file, except programs of the PATH, the modules
  that scripts and modules (``-m``) of Python import from their folder, and the agents that
  ``goita bot`` hosts;
- the paths in its attribute ``files``, a tuple. It writes the paths in ``outputs``, which are left
  out.

Files that exist and cannot be covered are named once on standard error.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import shutil
import sys
import sysconfig
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import file_digest, sha256
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from goita_agents.base import Agent, AgentError, close, raised
from goita_agents.files import kind_of
from goita_agents.registry import (
    Named,
    entry_points_by_name,
    every_part,
    is_own,
    load_agent,
    loaded_with,
    parse_spec,
    short_name,
    split_text,
)
from goita_env.agent import PROJECT
from goita_env.errors import GoitaError

FOLDER_BYTES: Final = 1 << 30
"""Most bytes of a folder that a digest covers."""

SETTLED_NANOSECONDS: Final = 2_000_000_000
"""Age of a file's times from which on they show every later change: file systems' clocks tick."""

_INSTALLED: Final = tuple(
    os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")
)


class Identities:
    """The digests of agents as they were built, with which a command compares them at its end.

    Args:
        specs: texts of agents, which are added.

    Attributes:
        digests: by text. An agent without a file and a network has none.
        weights: as ``weights`` returns them.
    """

    def __init__(self, specs: Iterable[str] = ()) -> None:
        self.digests: dict[str, str] = {}
        self.weights: dict[str, str] = {}
        self._paths: dict[str, _Paths] = {}
        for spec in specs:
            self.add(spec)

    def add(self, spec: str, agent: Agent | None = None) -> None:
        """Adds an agent by its text; without ``agent`` a user's class is built for its files."""
        self._paths[spec] = _Paths.of(spec, agent)
        self.weights |= weights([spec])
        if (content := _digest(spec, self._paths[spec])) is not None:
            self.digests[spec] = content

    @property
    def specs(self) -> tuple[str, ...]:
        """The texts of the agents."""
        return tuple(self._paths)

    def of(self, specs: Iterable[str]) -> dict[str, str]:
        """Returns the digests of some of the agents."""
        return {spec: self.digests[spec] for spec in specs if spec in self.digests}

    def changed(self, specs: Iterable[str] | None = None) -> list[str]:
        """Returns the agents, of all or of some, whose files or networks have changed since."""
        agents = self._paths if specs is None else [s for s in specs if s in self._paths]
        return [spec for spec in agents if self._now(spec) != self.digests.get(spec)]

    def _now(self, spec: str) -> str | None:
        try:
            return _digest(spec, self._paths[spec])
        except (GoitaError, OSError):  # a network that is gone, or half written
            return ""


def digest(spec: str, agent: Agent | None = None) -> str | None:
    """Returns the SHA-256 of an agent's files and networks; None if it has none.

    Args:
        spec: its text.
        agent: the agent, where it has been built.
    """
    return _digest(spec, _Paths.of(spec, agent))


def code(name: str) -> str:
    """Returns the SHA-256 of the source of an agent of this distribution: of its package's files.

    A digest leaves the source out, because the version stands for it. But data that are shipped
    with this distribution may have been made by another version.
    """
    folder = Path(import_module(entry_points_by_name()[name].module).__file__ or "").parent
    return sha256(b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))).hexdigest()


def weights(specs: Iterable[str]) -> dict[str, str]:
    """Returns the SHA-256 of each network in the agents' texts, by the part that names it.

    A user's class is left out, and is not imported.
    """
    networks: dict[str, str] = {}
    for spec in specs:
        if not is_own(spec):
            for part in every_part(spec):
                networks |= _network(part)
    return networks


class _Paths(NamedTuple):
    """The paths that an agent names itself."""

    files: tuple[str, ...] = ()  #: Paths that belong to it.
    outputs: tuple[str, ...] = ()  #: Paths that it writes.

    @classmethod
    def of(cls, spec: str, agent: Agent | None) -> Self:
        """Returns the paths of a user's class, and of the users' classes among its options.

        Args:
            spec: its text.
            agent: the agent, where it has been built; agents in its options are built here.
        """
        files, outputs = list[str](), list[str]()
        for part in every_part(spec):
            if not part.is_own:
                continue
            built = agent if agent is not None and part.spec == spec else load_agent(part.spec)
            try:
                files += _named_in(built, "files")
                outputs += map(os.path.realpath, _named_in(built, "outputs"))
            finally:
                if built is not agent:
                    close([built])
        return cls(tuple(files), tuple(outputs))


def _named_in(agent: Agent, attribute: str) -> list[str]:
    """Returns the paths in an attribute of an agent, which need not have it."""
    try:
        paths = getattr(agent, attribute, ())
    except Exception as error:  # a property may raise whatever it likes
        text = f"expected {attribute} of {agent.name!r}, but it raised {raised(error)}"
        raise AgentError(text) from error
    if not isinstance(paths, tuple | list):
        return []
    return [os.fspath(path) for path in paths if isinstance(path, str | os.PathLike)]


# ------------------------------------------------------------------------------- what a text names


def _digest(spec: str, paths: _Paths) -> str | None:
    """Returns the digest of an agent that names these paths itself."""
    name, contents = short_name(spec), list[str | None]()
    for part in every_part(spec):
        contents += _contents(part, name, paths.outputs)
    for path in paths.files:
        if not os.path.exists(path):
            _say(name, path, "there is no such file")
        contents.append(content_hash(path, name))
    hashes = [content for content in contents if content is not None]
    if len(hashes) > 1:
        return sha256(" ".join(hashes).encode()).hexdigest()
    # A single network keeps its own digest, by which model cards name it.
    return hashes[0] if hashes else None


def _contents(part: Named, name: str, outputs: Collection[str] = ()) -> Iterator[str | None]:
    """Yields the hashes of the files and networks of a name with its argument and options.

    Args:
        part: the name.
        name: of the agent, for the note about files that cannot be covered.
        outputs: real paths that are left out.
    """
    if part.is_own:
        factory = part.load().factory
        modules = {_module_of(part), getattr(factory, "__module__", _module_of(part))}
        named = [*_paths_in(part.text), *_defaults(factory, part.text)]
        options = [path for path in named if os.path.realpath(path) not in outputs]
        yield from _existing([*_sources(modules), *options], name)
        return
    yield from _network(part).values()
    if part.load().is_outside and part.load().digest is None:  # a command
        command = re.sub(r"^\[[^\]]*\]", "", part.text)  # without [ms=...] before it
        words = list(_words(command))
        for word in filter(os.path.isdir, words):
            _say(name, word, "it is a folder")
        files = [word for word in words if not os.path.isdir(word)]
        yield from _existing([*files, *_run_by_python(words)], name)
        if "bot" in words:  # goita bot NAME
            for hosted in words[words.index("bot") + 1 :]:
                yield from _hosted(hosted, name)


def _hosted(text: str, name: str) -> Iterator[str | None]:
    """Yields the hashes of an agent that a command hosts in a separate process.

    A user's class is not imported: its code is to run only there.
    """
    try:
        part = parse_spec(text)
    except AgentError:  # the program of that name is another one
        return
    if part.is_own:
        yield from _existing([*_sources({_module_of(part)}), *_paths_in(part.text)], name)
    else:
        yield from _contents(part, name)
        for inner in part.agents():
            yield from _hosted(inner, name)


def _run_by_python(words: Sequence[str]) -> Iterator[str]:
    """Yields the files that scripts and modules among a command's words import from their folders.

    The file of a module (``-m``) is among them, that of a script is not.
    """
    for before, word in pairwise(["", *words]):
        if before == "-m":
            yield from _sources((word, f"{word}.__main__"), os.getcwd())
        elif word.endswith(".py") and os.path.isfile(word):
            yield from _sources(_imports(Path(word).read_bytes(), ""), os.path.dirname(word) or ".")


def _network(part: Named) -> dict[str, str]:
    """Returns the digest of a name's own network by the text that names it; {} if it has none."""
    network_digest, (argument, _) = part.load().digest, part.split()
    if network_digest is None:
        return {}
    return {":".join((part.name, *argument)): network_digest(*argument)}


def _paths_in(text: str) -> Iterator[str]:
    """Yields the words of options that could be paths: whole values, and the items of lists."""
    yield text
    for option in split_text(text):
        value = option.partition("=")[2].strip()
        yield from (value, *(item.strip() for item in value.strip("()").split(";")))


def _defaults(factory: Any, text: str) -> Iterator[str]:
    """Yields the defaults, of options that a text does not name, that could be paths."""
    names = {option.partition("=")[0].strip() for option in split_text(text)}
    for parameter in inspect.signature(factory).parameters.values():
        default = () if parameter.name in names else parameter.default
        for path in default if isinstance(default, tuple | list) else (default,):
            if isinstance(path, str | os.PathLike):
                yield os.fspath(path)


def _words(command: str) -> Iterator[str]:
    """Yields the words of a command that may be paths; a word may be a command for a shell itself.

    A program of the PATH is left out: it belongs to the system, and not to the agent.
    """
    with suppress(ValueError):  # an unbalanced quote
        for place, word in enumerate(shlex.split(command)):
            program = os.path.realpath(shutil.which(os.path.basename(word)) or "")
            is_named = place == 0 and os.sep not in word and shutil.which(word) is not None
            if is_named or program == os.path.realpath(word):
                continue
            yield from (word, *word.split("=", 1)[1:])
            if len(word) < len(command) and any(map(str.isspace, word)):
                yield from _words(word)


# --------------------------------------------------------------------------------- modules


def _module_of(part: Named) -> str:
    """Returns the module of a user's class or of another package's agent."""
    point = entry_points_by_name().get(part.name)
    return part.name.partition(":")[0] if point is None else point.module


def _sources(modules: Collection[str], *folders: str) -> list[str]:
    """Returns the files of some modules and of what importing them loads from their folders.

    With ``folders`` the modules are those of another process, which finds modules only there.

    Imports are read from the source, also those in functions, because a module that another agent
    has loaded before is not loaded again. The modules that the first import did load count, too,
    since a name may be computed.
    """
    roots = set(map(os.path.realpath, folders or [os.getcwd()]))
    for module in () if folders else modules:
        if (path := _loaded_file(module.partition(".")[0])) is not None:
            # The folder of the module, or the one that holds its package.
            is_package = Path(path).stem == "__init__"
            roots.add(str(Path(path).parents[1 if is_package else 0]))
    unread = [*modules, *(name for module in modules for name in loaded_with(module))]
    files: dict[str, str | None] = {}
    while unread:
        name = unread.pop()
        if not name or name in files:
            continue
        path = (None if folders else _loaded_file(name)) or _file_below(roots, name)
        is_local = path is not None and _is_below(path, roots) and not PROJECT.match(name)
        files[name] = path if is_local or name in modules else None
        if path is not None and is_local:
            package = name if Path(path).stem == "__init__" else name.rpartition(".")[0]
            unread.append(name.rpartition(".")[0])
            unread += _imports(Path(path).read_bytes(), package) if path.endswith(".py") else ()
    return sorted({path for path in files.values() if path is not None})


def _loaded_file(module: str) -> str | None:
    """Returns the file of an imported module; None where it has none or is not imported.

    The import system sets absolute paths. Modules that a library makes itself may have others, as
    ``torch.ops`` has: they are not files.
    """
    path = getattr(sys.modules.get(module), "__file__", None)
    if not isinstance(path, str) or not os.path.isabs(path) or not os.path.isfile(path):
        return None
    return os.path.realpath(path)


def _file_below(roots: Iterable[str], module: str) -> str | None:
    """Returns the file that importing a module would read below the first of some folders."""
    for root in roots:
        place = os.path.join(root, *module.split("."))
        for path in (os.path.join(place, "__init__.py"), f"{place}.py"):
            if os.path.isfile(path):
                return os.path.realpath(path)
    return None


def _is_below(path: str, roots: Iterable[str]) -> bool:
    """Returns whether a file lies in some of the folders, and not in an installed package."""

    def is_in(folders: Iterable[str]) -> bool:
        return any(Path(path).is_relative_to(folder) for folder in folders)

    return is_in(roots) and not is_in(_INSTALLED)


@lru_cache(maxsize=256)
def _imports(source: bytes, package: str) -> list[str]:
    """Returns the names that the source of a module of a package imports."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # One dot is the package itself, each further dot a package above it.
            parents = package.split(".")[: -node.level + 1 or None] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


# ----------------------------------------------------------------------------------- files


def _existing(paths: Iterable[str], name: str) -> Iterator[str | None]:
    """Yields the hash of each path that exists."""
    yield from (content_hash(path, name) for path in dict.fromkeys(paths) if os.path.exists(path))


def content_hash(path: str | Path, name: str) -> str | None:
    """Returns the SHA-256 of a file or a folder; None, with a note, where it cannot be covered.

    Args:
        path: the file or the folder.
        name: of the agent or program that it belongs to, for the note.
    """
    path = os.fspath(path)
    try:
        if os.path.isdir(path):
            return _folder_hash(path, name)
        if os.path.isfile(path):
            return _file_hash(path)
        if os.path.exists(path):
            _say(name, path, f"it is {kind_of(path)}")
    except OSError as error:
        _say(name, path, f"{error.strerror or error}")
    return None


def _folder_hash(path: str, name: str) -> str | None:
    """Returns the hash of the regular files below a folder; None where they are too large."""
    files: dict[str, str] = {}
    folders: set[str] = set()
    size = 0
    for folder, below, names in os.walk(path, followlinks=True):
        if os.path.realpath(folder) in folders:  # a link that leads back
            below.clear()
            continue
        folders.add(os.path.realpath(folder))
        below[:] = [inner for inner in below if inner != "__pycache__"]
        for file in (os.path.join(folder, inner) for inner in names):
            if os.path.isfile(file):
                files[os.path.relpath(file, path)] = file
                size += os.path.getsize(file)
            elif os.path.exists(file):
                _say(name, file, f"it is {kind_of(file)}")
        if size > FOLDER_BYTES:
            _say(name, path, f"its files have more than {FOLDER_BYTES:,} bytes")
            return None
    lines = (os.fsencode(f"{inner}\0{_file_hash(files[inner])}\0") for inner in sorted(files))
    return sha256(b"".join(lines)).hexdigest()


def _file_hash(path: str) -> str:
    """Returns the SHA-256 of a file's content, which is read again only if the file has changed."""
    status = os.stat(path)
    state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    if time.time_ns() - max(state[3:]) > SETTLED_NANOSECONDS:
        return _hash_in(path, state)
    return _hash_in.__wrapped__(path, state)


@lru_cache(maxsize=4096)
def _hash_in(path: str, state: tuple[int, ...]) -> str:
    """Returns the SHA-256 of a file; kept by its state, which changes with its content."""
    del state
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


@cache
def _say(name: str, path: str, why: str) -> None:
    """Writes a note on standard error, once, about a path that a digest does not cover."""
    sys.stderr.write(f"the digest of {name} does not cover {path!r}: {why}\n")
