"""Logs from somebody else: each crafted one is one clear error, and none runs or loads anything."""

import json
import shutil
from contextlib import suppress

import pytest

from goita_lab.signals import log
from goita_lab.signals.log import checking, schema
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
        (
            lambda known: known | {"format": "goita-signals-9"},
            "enum value 'goita-signals-9'",
        ),
        (lambda known: known | {"observation_version": 99}, "got version 99"),
        (lambda known: known | {"rounds": 10**9}, "Expected `int` <="),
        (lambda known: known | {"first": 2}, "to go on at round 0, got round 2"),
        (lambda known: known | {"rules": "/etc/passwd"}, "expected a Rules value or one of"),
    ],
)
def test_metadata_that_is_none_of_a_log_is_refused(change, says, folder):
    for name in (DEALS, DECISIONS):
        craft(folder / name, change)
    refused(folder, says)


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


def test_a_file_that_unpacks_to_more_than_its_rounds_can_have_is_refused(folder, monkeypatch):
    monkeypatch.setattr(checking, "SPARE", -8 * checking.ROUND_BYTES)
    refused(folder, "expected no more in .* than 8 rounds can have, got ")


def test_tables_that_do_not_fit_together_are_one_clear_error(folder):
    craft(folder / DEALS, agent_2=lambda v: ["exec:id"] * len(v))
    refuses(log.LogError, "exec:id", log.read, folder)
