"""Turns a dataclass into a command line: each field an option, the text under it the help.

::

    @dataclass(frozen=True)
    class Args:
        deals: int = 1000
        \"\"\"deals a pair\"\"\"

    args = cli.parse(Args, description=__doc__)
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import MISSING, fields
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

D = TypeVar("D", bound="DataclassInstance")


def parse(cls: type[D], argv: Sequence[str] | None = None, description: str | None = None) -> D:
    """Returns a dataclass filled from the command line; wrong input ends the program with code 2.

    Fields may be int, float, str, bool (``--flag``, ``--no-flag``), Path, a Literal, a tuple or a
    list of one of them (one value or more), each also ``| None``. A field without a default is
    required. A ``ValueError`` that the dataclass itself raises (``__post_init__``) counts as wrong.

    Args:
        cls: the dataclass.
        argv: arguments after the program's name; None: those of this process.
        description: shown above the options.
    """
    parser = argparse.ArgumentParser(
        description=textwrap.dedent(description or ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    hints, texts = get_type_hints(cls), field_docs(cls)
    for field in fields(cls):
        flag = "--" + field.name.replace("_", "-")
        options = _options(hints[field.name])
        text = texts.get(field.name, "").replace("%", "%%")
        if field.default is MISSING and field.default_factory is MISSING:
            options["required"] = True
        else:
            default = field.default if field.default_factory is MISSING else field.default_factory()
            options["default"] = default
            text += "" if default is None else f" (default: {_shown(default)})"
        parser.add_argument(flag, dest=field.name, help=text, **options)
    values = vars(parser.parse_args(argv))
    for field in fields(cls):
        if isinstance(values[field.name], list) and _origin(hints[field.name]) is tuple:
            values[field.name] = tuple(values[field.name])
    try:
        return cls(**values)
    except ValueError as error:
        parser.error(str(error))


def fail(error: Exception | str) -> NoReturn:
    """Ends the program as wrong arguments do: the error on standard error, exit code 2."""
    sys.stderr.write(f"{Path(sys.argv[0]).name}: error: {error}\n")
    raise SystemExit(2)


def field_docs(cls: type[DataclassInstance]) -> dict[str, str]:
    """Returns the text that stands under each field of a dataclass, on one line."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            found[field.target.id] = " ".join(text.value.value.split())
    return found


def _options(hint: Any) -> dict[str, Any]:
    """Returns how argparse reads a field of this type."""
    hint, origin = _plain(hint), _origin(hint)
    if origin in (tuple, list):
        return {**_options(get_args(hint)[0]), "nargs": "+"}
    if origin is Literal:
        choices = get_args(hint)
        return {"choices": choices, "type": type(choices[0])}
    if hint is bool:
        return {"action": argparse.BooleanOptionalAction}
    metavar = {int: "N", float: "X", Path: "PATH"}.get(hint, "TEXT")
    return {"type": hint, "metavar": metavar}


def _plain(hint: Any) -> Any:
    """Returns the type without ``| None``."""
    if get_origin(hint) in (Union, UnionType):
        return next(part for part in get_args(hint) if part is not NoneType)
    return hint


def _origin(hint: Any) -> Any:
    """Returns tuple, list, Literal or None for the type without ``| None``."""
    return get_origin(_plain(hint))


def _shown(default: Any) -> str:
    """Returns a default as one would type it."""
    parts = default if isinstance(default, tuple | list) else [default]
    return " ".join(str(part) for part in parts).replace("%", "%%")
