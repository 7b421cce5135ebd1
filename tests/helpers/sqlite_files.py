"""SQLite files as somebody else may read and change them."""

import sqlite3
from contextlib import closing, contextmanager

import pytest

from goita_env.errors import SettingError


def edit(path, *statements):
    """Does to a file what somebody else might have done."""
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)


def table(path, query):
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


@contextmanager
def refused(path, words):
    """Asserts that a file is refused in a sentence that names it, and left as it is."""
    before = path.read_bytes()
    with pytest.raises(SettingError, match=words) as error:
        yield
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before
