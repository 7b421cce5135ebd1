"""Turns a dataclass into a command line: each field an option, the text under it its help.

::

    @dataclass(frozen=True)
    class Args:
        deals: int = 1000
        \"\"\"deals a pair\"\"\"

    args = cli.parse(Args, description=__doc__)
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, make_dataclass
from functools import partial
from io import TextIOWrapper
from itertools import filterfalse
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    NoReturn,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from goita_agents.files import check_writable, is_stdout
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure, read_information
from goita_env.rules import RULE_SETS, Rules, read_rules

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from tyro.constructors import PrimitiveConstructorSpec, PrimitiveTypeInfo

D = TypeVar("D", bound="DataclassInstance")
T = TypeVar("T")

SHARED: Final = {
    "rules": f"rule set: {', '.join(RULE_SETS)}, or a JSON file of your own",
    "information": "JSON file with the information options, as InformationStructure.to_keys() "
    "writes them",
    "workers": "number of processes on this machine, at most one for each core, or on the Ray "
    "cluster at RAY_ADDRESS; it does not change results",
    "json": "file for all results as JSON",
    "anew": "discard stored finished work and begin again, for example after a change of the "
    "arguments or of a version",
}
"""The help of options that mean the same in every command, where a field has no text of its own."""

POSITIONAL: Final = {"positional": True}
"""Metadata of a field whose value comes without a flag: ``field(metadata=cli.POSITIONAL)``."""


def short(flag: str) -> dict[str, str]:
    """Returns the metadata of a field that has a short flag too: ``cli.short("-o")``."""
    return {"short": flag}


def parse(
    cls: type[D],
    argv: Sequence[str] | None = None,
    description: str | None = None,
    command: str = "",
    default: D | None = None,
) -> D:
    """Returns a dataclass filled from the command line; wrong input ends the program with code 2.

    Fields are of types that tyro knows, ``Rules`` (a name, or the path of a JSON file) or
    ``InformationStructure`` (a JSON file). One without a default is required, a tuple takes one
    value or more. A ``ValueError`` that the dataclass itself raises (``__post_init__``) counts as
    wrong.

    Args:
        cls: a frozen dataclass.
        argv: arguments after the program's name; None: those of this process.
        description: shown above the options.
        command: the subcommand that these are the options of, if the program has several.
        default: holds the values of options that are not given; None: those of the class.
    """
    import tyro

    argv = sys.argv[1:] if argv is None else list(argv)
    program = f"{_program()} {command}".rstrip()
    text = without_marks(description).rstrip()
    registry = tyro.constructors.ConstructorRegistry()
    registry.primitive_rule(partial(_read, Rules, "NAME|FILE.json", read_rules))
    registry.primitive_rule(partial(_read, InformationStructure, "FILE", read_information))
    shown_options = tyro.cli(
        _shown(cls, default),
        prog=program,
        args=argv,
        # Lines of columns are indented: tyro fills other lines up.
        description=re.sub(r"^(?=goita )", "    ", text, flags=re.MULTILINE),
        config=(tyro.conf.DisallowNone,),
        registry=registry,
    )
    values = vars(shown_options)
    for field in fields(cls):
        if values[field.name] == ():
            name = f"--{field.name.replace('_', '-')}"
            expected = field.name.upper() if field.metadata == POSITIONAL else f"value after {name}"
            fail(f"expected one {expected} or more, got none")
    try:
        return cls(**values)
    except ValueError as error:
        fail(error)


def parse_one(
    commands: Mapping[str, type[D]], argv: Sequence[str] | None, doc: str | None
) -> D | int:
    """Returns the options of the command that the first word names, as ``parse`` does.

    Without a word, or with -h, it shows the help and returns the exit code.

    Args:
        commands: the dataclasses of the commands' options, whose docstrings describe them.
        argv: arguments after the program's name; None: those of this process.
        doc: the help.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in ([], ["-h"], ["--help"]):
        sys.stdout.write(f"{without_marks(doc)}\n")
        return 0 if words else 2
    if words[0] not in commands:
        fail(f"expected a command of {', '.join(commands)}, got {words[0]!r}")
    kind = commands[words[0]]
    return parse(kind, words[1:], description=inspect.getdoc(kind), command=words[0])


def without_marks(text: str | None) -> str:
    """Returns a docstring as a terminal shows it, without the marks of code."""
    return re.sub(r"^::\n\n", "", text or "", flags=re.MULTILINE).replace("``", "")


def check_outputs(
    *files: Path | None,
    summary: Path | None = None,
    store: Path | None = None,
    folder: Path | None = None,
    inputs: Sequence[Path] = (),
) -> None:
    """Raises a SettingError if an output of a command cannot be written, or is named twice.

    A file that is read is no output.

    Args:
        files: those that are written whole; ``-`` and ``/dev/stdout`` are standard output.
        summary: another, which has a .npz next to it.
        store: of finished tasks, with the further files that SQLite writes.
        folder: of outputs.
        inputs: what is read.
    """
    outputs = [file for file in (*files, summary) if file is not None]
    for output in filterfalse(is_stdout, outputs):
        check_writable(output)
    if summary is not None and not is_stdout(summary):
        outputs.append(summary.with_suffix(".npz"))
        check_writable(outputs[-1])
    if store is not None:
        if is_stdout(store):
            raise SettingError(f"expected a file that is read again, got {str(store)!r}")
        check_writable(store)
        outputs += [store, *(Path(f"{store}{end}") for end in ("-wal", "-shm", "-journal"))]
    if folder is not None:
        check_writable(folder, folder=True)
        outputs.append(folder)
    places = ["-" if is_stdout(output) else os.path.realpath(output) for output in outputs]
    for output, place in zip(outputs, places, strict=True):
        if places.count(place) > 1:
            raise SettingError(f"expected another file for each output, got {str(output)!r} twice")
        if place in map(os.path.realpath, inputs):
            raise SettingError(f"expected outputs that are not read, got {str(output)!r}")


def beside(output: Path) -> Path | None:
    """Returns the file of the finished tasks of an output; None: standard output has none."""
    return None if is_stdout(output) else output.with_name(f"{output.name}.parts")


def command(program: str, argv: Sequence[str] | None) -> str:
    """Returns a command line for reports.

    Args:
        program: what ran the words: "goita evaluate".
        argv: the words; None: those of this process.
    """
    return f"{program} {shlex.join(sys.argv[1:] if argv is None else argv)}"


def fail(error: Exception | str) -> NoReturn:
    """Ends the program as wrong arguments do: the error on standard error, exit code 2.

    What is not printable is replaced: an agent, or a file, may have written the error's text.
    """
    text = "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in str(error))
    sys.stderr.write(f"{_program()}: error: {text}\n")
    raise SystemExit(2)


def run(main: Callable[[], int]) -> NoReturn:
    """Runs a command as this program; what it shows cannot end it.

    Signs that the terminal lacks are shown as "?". Where nobody reads the output any more, as
    behind ``| head``, the program ends quietly: files are written before anything is shown. Output
    that could not be written for another reason, such as a full disk, makes the exit code 1.
    """
    if sys.stdout is None:  # closed, as by ``>&-``
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the end)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = main()
        sys.stdout.flush()
    except OSError as error:
        code = 0
        if not isinstance(error, BrokenPipeError):
            # An error of the output's stream names no file, unlike one of a file.
            what = "" if error.filename else "expected to write all output: "
            sys.stderr.write(f"{_program()}: error: {what}{error}\n")
            code = 1
        # What the stream still holds is written at the interpreter's end: nothing catches that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(code)


def _program() -> str:
    """Returns the command, which ``goita_lab.__main__`` sets: "goita evaluate"."""
    return Path(sys.argv[0]).name


def _shown(
    cls: type[DataclassInstance], default: DataclassInstance | None
) -> type[DataclassInstance]:
    """Returns a dataclass with the same fields, marked for tyro's help, and without the checks.

    ``default`` has the values of options that are not given, as in ``parse``.
    """
    from docstring_parser import parse_from_object
    from tyro import conf

    hints = get_type_hints(cls)
    kinds = [kind for kind in reversed(cls.__mro__) if is_dataclass(kind)]
    params = [param for kind in kinds for param in parse_from_object(kind).params]
    texts = SHARED | {param.arg_name: param.description for param in params if param.description}
    shown_fields: list[Any] = []
    for field in fields(cls):
        hint, positional = hints[field.name], field.metadata == POSITIONAL
        # An option of several values is a tuple, or a tuple or None.
        several = [part for part in (hint, *get_args(hint)) if get_origin(part) is tuple]
        metavar = f"{get_args(several[0])[0].__name__.upper()} ..." if several else None
        value = field.default if default is None else getattr(default, field.name)
        mark = conf.arg(
            # tyro itself keeps line breaks in a text of several lines.
            help=" ".join(texts.get(field.name, "").split()),
            aliases=[field.metadata["short"]] if "short" in field.metadata else None,
            # The help says what None or an empty text means; positionals have no default.
            help_behavior_hint="" if positional or value in (None, "") else None,
            metavar=field.name.upper() if positional else metavar,
        )
        marks: list[Any] = [mark, conf.Positional] if positional else [mark]
        if field.default is False:  # only what is on by default has a --no-NAME
            marks.append(conf.FlagCreatePairsOff)
        ends = () if value is MISSING else (value,)
        shown_fields.append((field.name, Annotated[(hint, *marks)], *ends))
    return make_dataclass(cls.__name__, shown_fields, frozen=True, kw_only=True)


def _read(
    kind: type[T], metavar: str, read: Callable[[str], T], info: PrimitiveTypeInfo
) -> PrimitiveConstructorSpec[T] | None:
    """Returns how tyro reads and shows a value of one of our types; None for any other type.

    Args:
        kind: our type.
        metavar: what the help shows in place of a value.
        read: returns the value of a text.
        info: the type of an option.
    """
    from tyro.constructors import PrimitiveConstructorSpec

    if info.type not in (kind, kind | None):
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=lambda texts: read(texts[0]),
        is_instance=lambda value: isinstance(value, kind | None),
        str_from_instance=lambda value: [_in_words(value)] if value else [],
    )


def _in_words(value: object) -> str:
    if isinstance(value, Rules):
        return value.name
    return "no options" if value == PLAIN else repr(value)
