"""Loads pyarrow, which is an extra, in a version that runs no code of a file's."""

from __future__ import annotations

from typing import Any, Final

from goita_env.errors import install

SAFE_ARROW: Final = (14, 0, 1)
"""The first pyarrow that runs no code which a Parquet file holds (CVE-2023-47248)."""


def arrow() -> Any:
    """Returns pyarrow.

    Raises:
        ImportError: if it is missing, or so old that a file can make it run code.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"a log needs pyarrow: {install('lab')}") from error
    version = tuple(int(part) for part in pyarrow.__version__.split(".")[:3] if part.isdecimal())
    if version < SAFE_ARROW:
        raise ImportError(
            f"expected pyarrow 14.0.1 or newer, which runs no code of a file's, got "
            f"{pyarrow.__version__}: pip install -U pyarrow"
        )
    return pyarrow
