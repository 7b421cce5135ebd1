"""Logs from somebody else: each crafted one is one clear error, and none runs or loads anything."""

import json
import shutil
from contextlib import suppress

import numpy as np
import pytest

from goita_lab.signals import log
from goita_lab.signals.log import schema
from raising import refuses

pa = pytest.importorskip("pyarrow")
DEALS, DECISIONS = "_deals/deals-00000.parquet", "decisions/decisions-00000.parquet"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("log")
    assert list(log.write(path, ["greedy", "random"], 8, belief="random"))[-1] == 8
    return path


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "log")


def craft(file, change=None, **columns):
    """Writes a file anew with other metadata, or other columns."""
    table = pa.parquet.read_table(file)
    metadata = json.loads(table.schema.metadata[schema.KEY])
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        given = values(table.column(name).to_numpy())
        if not isinstance(given, pa.Array):
            given = pa.array(given, table.schema.field(name).type)
        table = table.set_column(place, name, given)
    metadata = change(metadata) if change else metadata
    text = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    pa.parquet.write_table(table.replace_schema_metadata({schema.KEY: text}), file)


def refused(folder, says):
    for read in (log.read, log.read_frame):
        with pytest.raises(log.LogError, match=says) as error:
            read(folder)
        assert len(str(error.value)) < 2_000


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda known: b"[" * 30_000, "expected a Parquet file of a log"),
        (lambda known: b" " * 70_000, "expected metadata of up to 65,536 bytes"),
        (lambda known: known | {"format": "goita-signals-9"}, "got 'goita-signals-9'"),
        (lambda known: known | {"observation_version": 99}, "got version 99"),
        (lambda known: known | {"seed": "0"}, "Expected `int`"),
        (lambda known: known | {"rounds": 10**9}, "Expected `int` <="),
        (lambda known: known | {"first": 2}, "to go on at round 0, got round 2"),
        (lambda known: known | {"agents": ["x"] * 3, "specs": ["x"] * 3}, "1, 2 or 4 agents"),
        (lambda known: known | {"agents": ["x" * 9_999, "y"]}, "length <= 1000"),
        (lambda known: known | {"rules": "/etc/passwd"}, "expected a Rules value or one of"),
    ],
)
def test_metadata_that_is_none_of_a_log_is_refused(change, says, folder):
    for name in (DEALS, DECISIONS):
        craft(folder / name, change)
    refused(folder, says)


@pytest.mark.parametrize(
    ("name", "columns", "says"),
    [
        (DEALS, {"agent_2": lambda v: ["exec:id"] * len(v)}, "exec:id"),
        (
            DECISIONS,
            {"move": lambda v: pa.array([str(one) for one in v])},
            "expected the columns of",
        ),
        (DECISIONS, {"mask_low": lambda v: v * 0}, "expected a whole part of a log"),
        (DECISIONS, {"round": lambda v: np.append(v[:-1], 2**62)}, "expected"),
        (
            DECISIONS,
            {"seat": lambda v: pa.array([None, *v.tolist()[1:]], pa.int8())},
            "expected a value in each row of 'seat'",
        ),
    ],
)
def test_tables_that_do_not_fit_together_are_one_clear_error(name, columns, says, folder):
    craft(folder / name, **columns)
    refuses(log.LogError, says, log.read, folder)


def test_a_row_that_unpacks_to_much_is_refused_before_it_is_unpacked(folder, monkeypatch):
    table = pa.parquet.read_table(folder / DECISIONS)
    large = [np.zeros(10**7, np.float32), *table.column("probabilities").to_pylist()[1:]]
    place = table.schema.get_field_index("probabilities")
    table = table.set_column(
        place, table.schema.field(place), pa.array(large, pa.list_(pa.float32()))
    )
    pa.parquet.write_table(table, folder / DECISIONS, compression="zstd", use_dictionary=False)
    assert (folder / DECISIONS).stat().st_size < 100_000
    monkeypatch.setattr(pa.parquet.ParquetFile, "scan_contents", None)
    refused(folder, "expected no more in .* than 8 rounds can have, got 40,")


@pytest.mark.parametrize("times", [4, pytest.param(40, marks=pytest.mark.slow)])
def test_whatever_bytes_are_changed_a_log_is_read_or_refused(times, folder):
    rng = np.random.default_rng(0)
    for name in (DEALS, DECISIONS) * times:
        whole = (folder / name).read_bytes()
        data = np.frombuffer(whole, np.uint8).copy()
        places = len(data) - 1 - rng.integers(len(data), size=3)
        data[places] = rng.integers(256, size=3)
        (folder / name).write_bytes(data.tobytes())
        for read in (log.read, log.read_frame):
            with suppress(log.LogError):
                read(folder)
        (folder / name).write_bytes(whole)


def test_a_file_that_is_cut_off_is_refused_and_a_part_that_is_missing_named(original, folder):
    data = (folder / DEALS).read_bytes()
    (folder / DEALS).write_bytes(data[: len(data) // 2])
    refused(folder, "expected ")
    (folder / DEALS).write_bytes(data)
    for name in (DEALS, DECISIONS):
        shutil.copy(original / name, folder / name.replace("00000", "00002"))
    refused(folder, "decisions/decisions-00001.parquet, got none")


def test_an_extension_type_runs_no_code(folder, tmp_path):
    """Old pyarrow unpickled what a file gives as the class of a column (CVE-2023-47248)."""
    mark = tmp_path / "ran"
    pickled = f"cposix\nsystem\n(S'touch {mark}'\ntR.".encode()
    table = pa.parquet.read_table(folder / DECISIONS)
    field = table.schema.field("move").with_metadata(
        {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": pickled}
    )
    place = table.schema.get_field_index("move")
    fields = [field if number == place else one for number, one in enumerate(table.schema)]
    made = table.cast(pa.schema(fields, table.schema.metadata))
    pa.parquet.write_table(made, folder / DECISIONS)
    with suppress(log.LogError):
        log.read(folder)
    assert not mark.exists()


def test_a_pyarrow_that_runs_code_of_files_is_refused(folder, monkeypatch):
    monkeypatch.setattr(pa, "__version__", "13.0.0")
    with pytest.raises(ImportError, match=r"expected pyarrow 14\.0\.1 or newer"):
        log.read(folder)


def test_agents_that_a_log_names_are_never_loaded(folder, monkeypatch):
    def load(*given):
        raise AssertionError(f"expected nothing to be loaded, got {given}")

    names = ["exec:[shell=on]touch PWNED", "subprocess:Popen:args=id"]
    for name in (DEALS, DECISIONS):
        craft(
            folder / name,
            lambda known: known | {"agents": names, "specs": names, "belief": names[0]},
            **{
                column: lambda v: [names[one == "random"] for one in v]
                for column in (
                    ["agent"] if name == DECISIONS else [f"agent_{seat}" for seat in range(4)]
                )
            },
        )
    for place in ("goita_agents.registry.load_agent", "goita_lab.signals.playing.load_agent"):
        monkeypatch.setattr(place, load)
    assert log.read(folder).agents == tuple(names)
    assert len(log.read_frame(folder)) > 100
