"""Plays and logs: every decision as it was made, written once and read back the same."""

import json
import shutil
from contextlib import suppress
from dataclasses import fields
from functools import partial

import numpy as np
import pytest

from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_env.rules import Rules
from goita_lab.commands.signals import main
from goita_lab.signals import log
from goita_lab.signals.log import files as log_files
from goita_lab.signals.log import schema
from goita_lab.signals.playing import Play, play
from programs import refusal
from raising import refuses

pa = pytest.importorskip("pyarrow")
ROUNDS, PART = 48, 16


def same(one: Play, other: Play) -> bool:
    return all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in ((getattr(one, f.name), getattr(other, f.name)) for f in fields(Play))
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("log")
    assert list(log.write(path, ["greedy", "random"], ROUNDS, part_rounds=PART))[-1] == ROUNDS
    return path


@pytest.mark.parametrize("rules", ["jga", Rules(name="mine", last_king=False)], ids=str)
def test_what_is_kept_is_what_was_seen_allowed_and_played(rules):
    told = play(["random"], 200, seed=3, rules=rules)
    rows = np.arange(len(told.deal))
    assert told.rounds == 200
    assert np.array_equal(told.view().legal(), told.legal)
    assert told.legal[rows, told.action].all()
    assert (told.probabilities[~told.legal] == 0).all()
    assert told.probabilities.sum(axis=1) == pytest.approx(1)
    assert told.probabilities[told.legal] == pytest.approx(
        np.repeat(1 / told.legal.sum(axis=1), told.legal.sum(axis=1))
    )


def test_rounds_are_those_of_the_seed_and_two_teams_play_each_deal_twice():
    told, dealt = play(["greedy", "random"], 20, seed=5), Rounds(10, seed=5).decisions.dealt
    first = told.redeal == 0
    assert np.array_equal(told.hands[first], np.repeat(dealt.hands, 2, axis=0))
    assert told.seating[first].tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]] * 10


def test_a_log_reads_back_as_what_was_played(folder):
    agents = ["greedy", "random"]
    parts = [play(agents, PART, first=first) for first in range(0, ROUNDS, PART)]
    assert same(log.read(folder), Play.join(parts))


def test_pandas_reads_a_row_a_decision_and_a_row_a_deal(folder):
    pd = pytest.importorskip("pandas")
    told = log.read(folder)
    decisions, deals = (pd.read_parquet(folder / name) for name in ("decisions", "_deals"))
    assert decisions.equals(pd.read_parquet(folder))
    assert (len(decisions), len(deals)) == (len(told.deal), len(told.hands))
    assert not decisions.isna().any(axis=None)
    dealt = decisions.merge(deals, on=["round", "redeal"])
    agents = dealt[[f"agent_{seat}" for seat in range(4)]].astype(str).to_numpy()
    assert dealt["agent"].tolist() == agents[np.arange(len(dealt)), dealt["seat"]].tolist()
    row = len(decisions) // 2
    assert np.array_equal(decisions["words"][row], told.words[row])
    chances = decisions["probabilities"][row]
    assert np.array_equal(chances, told.probabilities[row, told.legal[row]])
    won = told.gained[told.deal] * np.where(told.seat % 2 == 0, 1, -1)
    assert np.array_equal(decisions["points"], won)


def test_a_log_that_was_stopped_goes_on_and_becomes_the_same(folder, tmp_path):
    written = log.write(tmp_path, ["greedy", "random"], ROUNDS, part_rounds=PART)
    next(written)
    written.close()
    (tmp_path / "decisions" / "decisions-00001.99.tmp").write_bytes(b"cut off")
    done = list(log.write(tmp_path, ["greedy", "random"], ROUNDS, part_rounds=PART))
    assert done == [PART, 2 * PART, ROUNDS]
    assert same(log.read(tmp_path), log.read(folder))


def with_metadata(file, **changes):
    """Writes other metadata into a file of a log."""
    table = pa.parquet.read_table(file)
    known = json.loads(table.schema.metadata[schema.KEY]) | changes
    table = table.replace_schema_metadata({schema.KEY: json.dumps(known)})
    pa.parquet.write_table(table, file)
    return known


def test_parts_of_agents_that_changed_are_played_again_and_the_others_kept(tmp_path, capsys):
    write = partial(log.write, tmp_path, ["champion"], 4, belief="greedy", part_rounds=2)
    assert list(write()) == [2, 4]
    first, second = sorted(tmp_path.glob("decisions/*.parquet"))
    before = first.read_bytes()
    for file in tmp_path.rglob("*-00001.parquet"):
        known = with_metadata(file, digests={"champion": "0" * 64})
        assert set(known["weights"]) == {"champion"}
    refuses(log.LogError, "parts of the same agents", log.read, tmp_path)
    assert list(write()) == [2, 4]
    assert "1 tasks kept, 1 done again" in capsys.readouterr().err
    assert first.read_bytes() == before
    assert with_metadata(second)["digests"] == with_metadata(first)["digests"]
    assert log.read(tmp_path).rounds == 4
    assert list(write()) == [4]
    assert capsys.readouterr().err == ""


def test_another_log_in_the_folder_is_an_error_that_says_which_and_stays(folder, tmp_path):
    agents = ["greedy", "random"]
    for words, options in (
        ("seed 0, now 1; name another file, or begin this one anew with --anew", {"seed": 1}),
        ("belief None, now 'greedy'", {"belief": "greedy"}),
        (r"specs \['greedy', 'random'\], now", {"agents": ["random", "greedy"]}),
    ):
        written = log.write(
            folder, **{"agents": agents, "rounds": ROUNDS, **options}, part_rounds=PART
        )
        refuses(SettingError, words, next, written)
    refuses(log.LogError, "at most", next, log.write(folder, agents, PART, part_rounds=PART))
    assert log.read(folder).rounds == ROUNDS
    refuses(log.LogError, "expected a folder with", log.read, tmp_path)
    (tmp_path / "games.jsonl").touch()
    foreign = log.write(tmp_path, agents, ROUNDS)
    refuses(SettingError, "expected a folder of a log or none", next, foreign)


def test_the_command_writes_a_log_and_begins_it_anew(tmp_path, capsys):
    words = ["log", "random", "-o", str(tmp_path / "a"), "--rounds"]
    assert main([*words, "4"]) == 0
    assert log.read(tmp_path / "a").rounds == 4
    assert "rounds 4, now 6" in refusal(capsys, main, [*words, "6"])
    assert log.read(tmp_path / "a").rounds == 4
    assert main([*words, "2", "--seed", "1", "--anew"]) == 0
    assert (log.read(tmp_path / "a").rounds, log.read(tmp_path / "a").seed) == (2, 1)
    (tmp_path / "a" / DECISIONS).write_bytes(b"cut")
    assert "expected a Parquet file of a log" in refusal(capsys, main, [*words, "2"])


# Logs from somebody else: each crafted one is one clear error, and none runs or loads anything.
DEALS, DECISIONS = "_deals/deals-00000.parquet", "decisions/decisions-00000.parquet"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("log")
    assert list(log.write(path, ["greedy", "random"], 8, belief="random"))[-1] == 8
    return path


@pytest.fixture
def mine(original, tmp_path):
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


def refused(place, says):
    with pytest.raises(log.LogError, match=says) as error:
        log.read(place)
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
        (lambda known: known | {"first": 2}, "to continue at round 0, got round 2"),
        (lambda known: known | {"rules": "/etc/passwd"}, "expected a Rules value or one of"),
    ],
)
def test_metadata_that_is_none_of_a_log_is_refused(change, says, mine):
    for name in (DEALS, DECISIONS):
        craft(mine / name, change)
    refused(mine, says)


def test_a_file_that_is_cut_off_is_refused_and_a_part_that_is_missing_named(original, mine):
    data = (mine / DEALS).read_bytes()
    (mine / DEALS).write_bytes(data[: len(data) // 2])
    refused(mine, "expected ")
    (mine / DEALS).write_bytes(data)
    for name in (DEALS, DECISIONS):
        shutil.copy(original / name, mine / name.replace("00000", "00002"))
    refused(mine, "decisions/decisions-00001.parquet, got none")


def test_agents_that_a_log_names_are_never_loaded(mine, monkeypatch):
    def load(*given):
        raise AssertionError(f"expected nothing to be loaded, got {given}")

    names = ["exec:[shell=on]touch PWNED", "subprocess:Popen:args=id"]
    for name in (DEALS, DECISIONS):
        craft(
            mine / name,
            lambda known: known | {"agents": names, "specs": names, "belief": names[0]},
            **{
                column: lambda v: [names[one == "random"] for one in v]
                for column in (
                    ["agent"] if name == DECISIONS else [f"agent_{seat}" for seat in range(4)]
                )
            },
        )
    for place in ("goita_agents.registry.load_agent", "goita_lab.signals.playing.build_agent"):
        monkeypatch.setattr(place, load)
    assert log.read(mine).agents == tuple(names)


def test_a_file_that_unpacks_to_more_than_its_rounds_can_have_is_refused(mine, monkeypatch):
    monkeypatch.setattr(log_files, "SPARE_BYTES", -8 * log_files.ROUND_BYTES)
    refused(mine, "expected no more in .* than 8 rounds can have, got ")


def test_tables_that_do_not_fit_together_are_one_clear_error(mine):
    craft(mine / DEALS, agent_2=lambda v: ["exec:id"] * len(v))
    refuses(log.LogError, "exec:id", log.read, mine)


def test_an_extension_type_runs_no_code(mine, tmp_path):
    """Old pyarrow unpickled what a file gives as the class of a column (CVE-2023-47248)."""
    mark = tmp_path / "ran"
    pickled = f"cposix\nsystem\n(S'touch {mark}'\ntR.".encode()
    table = pa.parquet.read_table(mine / DECISIONS)
    field = table.schema.field("move").with_metadata(
        {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": pickled}
    )
    place = table.schema.get_field_index("move")
    fields = [field if number == place else one for number, one in enumerate(table.schema)]
    made = table.cast(pa.schema(fields, table.schema.metadata))
    pa.parquet.write_table(made, mine / DECISIONS)
    with suppress(log.LogError):
        log.read(mine)
    assert not mark.exists()


def test_an_old_pyarrow_is_refused(mine, monkeypatch):
    monkeypatch.setattr(pa, "__version__", "14.0.0")
    refuses(ImportError, "expected pyarrow 14.0.1 or newer", log.read, mine)
