"""The store of blocks: stopped, killed, on a full disk, with two writers, and files of others."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import time

import pytest

from goita_env.errors import SettingError
from goita_lab.store import Store, read_arguments
from programs import ROOT, run, run_small
from raising import refuses
from sqlite_files import edit, refused
from store_blocks import ARGUMENTS, LAYOUT, block, write

LOAD = "SELECT load_extension('x')"
WRITER = [sys.executable, "-m", "store_blocks"]
WHERE = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests/helpers")])}


def contents(path):
    with Store(path, LAYOUT, {}) as store:
        return [found for _, found in store.read()]


def same(found, numbers):
    return [one.digest() for one in found] == [block(number).digest() for number in numbers]


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "blocks", 3)
    return tmp_path / "blocks"


def test_blocks_come_back_as_they_were_in_the_order_in_which_they_came(path):
    assert same(contents(path), range(3))
    with Store(path, LAYOUT, {}) as store:
        assert store.arguments == ARGUMENTS
        store.add(block(3))
    assert same(contents(path), range(4))
    assert [file.name for file in path.parent.iterdir()] == ["blocks"]


def test_anybody_reads_the_tables(path):
    db = sqlite3.connect(path)
    found = db.execute("SELECT name, count(*) FROM blocks JOIN rows USING (block) GROUP BY name")
    assert found.fetchall() == [(f"block {number}", 200) for number in range(3)]
    assert dict(db.execute("SELECT * FROM meta"))["arguments"] == json.dumps(ARGUMENTS)


def test_arguments_are_read_without_the_blocks(path):
    assert read_arguments(path, LAYOUT) == ARGUMENTS
    assert read_arguments(path.with_name("nothing"), LAYOUT) is None
    empty = path.with_name("empty")
    empty.touch()
    assert read_arguments(empty, LAYOUT) is None
    write(empty, 3)  # it is begun
    assert same(contents(empty), range(3))


def test_what_is_dropped_goes_with_the_next_block_and_not_before(path):
    before = path.read_bytes()
    with Store(path, LAYOUT, {}) as store:
        store.drop([1, 3], {"seed": 4})
    assert path.read_bytes() == before
    with Store(path, LAYOUT, {}) as store:
        store.drop([1, 3], {"seed": 4})
        store.add(block(2))
        store.add(block(0))
    assert same(contents(path), [1, 2, 0])
    assert read_arguments(path, LAYOUT) == {"seed": 4}


def test_a_block_is_there_once(path):
    with Store(path, LAYOUT, {}) as store, pytest.raises(SettingError, match="UNIQUE"):
        store.add(block(1))
    assert same(contents(path), range(3))


def test_a_second_program_is_refused_with_a_sentence(path):
    with Store(path, LAYOUT, {}) as store:
        for more in (False, True):
            if more:
                store.add(block(3))
            done = run([*WRITER, path], check=True, env=WHERE)
            sentence = "expected blocks of a test in a file that no other program has open, got "
            assert done.stderr == f"{sentence}{str(path)!r}\n"
            assert done.stdout == ""
            refuses(SettingError, "no other program has open", read_arguments, path, LAYOUT)
        store.add(block(4))
    assert same(contents(path), range(5))


def test_killed_at_any_moment_it_has_every_block_whose_add_returned(tmp_path):
    path, rng = tmp_path / "blocks", random.Random(7)
    before = 0
    for _ in range(6):
        words, pipe = [*WRITER, path], subprocess.PIPE
        with subprocess.Popen(words, stdout=pipe, text=True, env=WHERE) as process:
            if rng.random() < 0.7:
                process.stdout.readline()
                time.sleep(rng.random() * 0.1)
            else:  # as it begins
                time.sleep(rng.random() * 0.3)
            process.kill()
            lines = process.stdout.read().splitlines()
        told = [int(line) for line in lines if line]
        found = contents(path)
        assert same(found, range(len(found)))
        assert len(found) >= max([before, *(number + 1 for number in told)])
        before = len(found)
    assert before > 20


def test_a_full_disk_is_a_line_and_nothing_that_was_there_is_lost(path):
    with Store(path, LAYOUT, {}) as store:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        store.drop([1])
        with pytest.raises(OSError, match="No space left on device") as error:
            store.add(block(3, rows=20_000))
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
    assert same(contents(path), range(3))


def test_a_file_that_may_not_grow_is_a_line_and_nothing_is_lost(path):
    most = path.stat().st_size + 40_000
    done = run_small([*WRITER, path], most, env=WHERE)
    told = done.stdout.splitlines()
    assert told
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr
    assert same(contents(path), range(3 + len(told)))


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_an_error_of_the_system(path):
    path.chmod(0o400)
    with pytest.raises(PermissionError):
        Store(path, LAYOUT, {})


def test_a_changed_byte_is_found_wherever_it_stands(path):
    whole, rng, told = path.read_bytes(), random.Random(5), []
    for _ in range(300):
        place, bit = rng.randrange(len(whole)), 1 << rng.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        before = path.read_bytes()
        try:
            found = contents(path)
        except SettingError as error:
            told.append(str(error))
            assert path.read_bytes() == before, place
        else:  # it holds nothing that is read: a gap of a page, a counter of SQLite's
            assert same(found, range(3)), place
    assert len(told) > 60
    assert not [text for text in told if "\n" in text]


@pytest.mark.parametrize("length", [1, 15, 100, 4096, -1, -4096])
def test_a_file_cut_off_is_refused_and_left_as_it_is(path, length):
    path.write_bytes(path.read_bytes()[:length])
    with refused(path, "expected"):
        contents(path)


FOREIGN = ["UPDATE meta SET value = 'poems' WHERE key = 'kind'", "DELETE FROM meta", "ANALYZE"]
FOREIGN += ["INSERT INTO meta VALUES ('more', 'x')", "CREATE TABLE more (x)", "DROP TABLE rows"]
FOREIGN += ["PRAGMA user_version = 4", "PRAGMA application_id = 4"]
FOREIGN += [f"CREATE VIEW more AS {LOAD} FROM rows", "CREATE INDEX more ON rows (share)"]
FOREIGN += [f"CREATE TRIGGER more AFTER INSERT ON rows BEGIN {LOAD}; END"]
FOREIGN += ["ALTER TABLE rows ADD COLUMN more DEFAULT 5"]
FOREIGN += ["ALTER TABLE rows RENAME COLUMN share TO part"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE rows SET share = 0.5 WHERE block = 2 AND place = 7", "block 2 has changed"),
        ("UPDATE blocks SET name = 'x' WHERE block = 1", "block 1 has changed"),
        ("UPDATE blocks SET data = NULL WHERE block = 1", "block 1 has changed"),
        ("UPDATE blocks SET digest = 5", "block 1 has changed"),
        ("UPDATE blocks SET key = x'00' WHERE block = 3", "block 3 has changed"),
        ("UPDATE blocks SET name = CAST(x'ff' AS TEXT)", "damaged"),
        ("DELETE FROM rows WHERE block = 2 AND place = 7", "block 2 has changed"),
        ("INSERT INTO rows VALUES (9, 1, 1.0)", "rows of no block"),
        ("DELETE FROM blocks WHERE block = 1", "rows of no block"),
        ("UPDATE blocks SET data = zeroblob(1 << 27) WHERE block = 1", "too big"),
        ("UPDATE meta SET value = replace(value, '3', '4')", "arguments have changed"),
        ("UPDATE meta SET value = '[1]' WHERE key = 'arguments'", "arguments"),
        (f"UPDATE meta SET value = '{'[' * 10**5}' WHERE key = 'arguments'", "arguments"),
        ("UPDATE meta SET value = 5 WHERE key = 'arguments'", "arguments"),
        *((statement, "another SQLite file") for statement in FOREIGN),
    ],
)
def test_a_file_that_was_changed_is_refused_in_a_sentence_and_left_as_it_is(path, statement, words):
    edit(path, statement)
    with refused(path, words):
        contents(path)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE meta (key TEXT, value TEXT AS (load_extension('x')))",
        "CREATE TABLE meta (key\n\nTEXT",
        "CREATE VIEW meta AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) "
        "SELECT * FROM c",
    ],
)
def test_a_crafted_schema_is_refused_and_nothing_of_it_runs(path, sql):
    quoted = sql.replace("'", "''")
    update = f"UPDATE sqlite_master SET sql = '{quoted}' WHERE name = 'meta'"
    edit(path, "PRAGMA writable_schema = ON", update)
    start = time.monotonic()
    with refused(path, "expected"):
        contents(path)
    assert time.monotonic() - start < 5


def test_a_schema_that_is_no_utf_8_is_refused_in_a_sentence(path):
    whole = path.read_bytes()
    for text in (b"TABLE rows", b"TEXT PRIMARY", b"NOT NULL"):
        assert text in whole
        path.write_bytes(whole.replace(text, b"\xff" + text[1:]))
        for read in (contents, lambda path: read_arguments(path, LAYOUT)):
            with refused(path, "damaged file|another SQLite file"):
                read(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"format":"test-1","arguments":{}}\n', "of version 0.2.0"),
        (b"my diary\nis private\n", "begins b'my diary"),
        (b"\x80\x04pickle", "expected a file of blocks of a test"),
        (b"SQLite format 3\0" + bytes(5_000), "damaged|another SQLite file"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path, content, words):
    path = tmp_path / "diary"
    path.write_bytes(content)
    for read in (contents, lambda path: read_arguments(path, LAYOUT)):
        with refused(path, words):
            read(path)
    assert [file.name for file in tmp_path.iterdir()] == ["diary"]


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        refuses(SettingError, "it is no file", Store, path, LAYOUT, {})


def test_a_journal_that_names_another_file_is_refused_and_that_file_stays(path):
    """SQLite deletes the file that a journal names, once it has rolled the journal back."""
    victim, journal = path.with_name("victim"), path.with_name("blocks-journal")
    victim.write_text(str(path.with_name("other-journal")))
    name = str(victim).encode()
    head = bytes.fromhex("d9d505f920a163d7") + (0).to_bytes(4) + bytes(4)
    size = (path.stat().st_size // 4096).to_bytes(4)
    body = head + size + (512).to_bytes(4) + (4096).to_bytes(4)
    tail = len(name).to_bytes(4) + sum(name).to_bytes(4) + bytes.fromhex("d9d505f920a163d7")
    crafted = body.ljust(512, b"\0") + (1 << 30).to_bytes(4) + name + tail
    journal.write_bytes(crafted)
    refuses(SettingError, "names another file", contents, path)
    assert victim.exists()
    assert journal.exists()
    sqlite3.connect(path).execute("SELECT * FROM meta").fetchall()
    assert not victim.exists()  # so it would have been
