"""Entries of a leaderboard are what was played, and what was not is found."""

import json

import msgspec
import pytest

from goita_env.errors import SettingError
from goita_lab.arena.coordination import benchmark, leaderboard
from goita_lab.arena.coordination import task as tasks
from goita_lab.arena.coordination.task import CoordinationTask, Partner
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.commands import coordination as command

OTHERS = ("population:offbelief-6",)
PARTNERS = (Partner("population:beside-heuristic-0"), Partner("heuristic:reading=off"))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A validation task of two partners, with eight deals a cell."""
    task = CoordinationTask(PARTNERS, OTHERS, "validation")
    for module in (tasks, leaderboard, command, benchmark):
        monkeypatch.setattr(module, "VALIDATION", task)
    monkeypatch.setattr(benchmark, "BENCHMARK_DEALS", dict.fromkeys(benchmark.BENCHMARK_DEALS, 8))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Keeps the file of one benchmark, played as ``small`` says."""
    return tmp_path_factory.mktemp("leaderboard") / "board.json"


@pytest.fixture
def board(played, tmp_path, capsys):
    """A leaderboard of two entries."""
    if not played.exists():
        assert command.main(["greedy", "champion", "--enter", str(played)]) == 0
    capsys.readouterr()
    path = tmp_path / "board.json"
    path.write_bytes(played.read_bytes())
    return path


def changed(board, change):
    """Changes the first entry of a file."""
    told = json.loads(board.read_bytes())
    change(told["entries"][0])
    board.write_text(json.dumps(told))


def test_the_figures_of_an_entry_are_those_of_its_cells(board, capsys):
    best, other = json.loads(board.read_bytes())["entries"]
    assert (best["name"], other["name"]) == ("champion", "greedy")  # by points
    assert {*best["cells"]} == {*(one.spec for one in PARTNERS), "champion"}
    means = [sum(best["cells"][one.spec].values()) / 2 for one in PARTNERS]
    over = mean_interval(means)
    assert best["figures"]["points"] == pytest.approx([over.mean, over.low, over.high], abs=1e-3)
    assert best["figures"]["worst"] == pytest.approx(min(means), abs=1e-3)
    assert best["figures"]["self_play"] == pytest.approx(
        best["cells"]["champion"][OTHERS[0]], abs=1e-3
    )
    assert command.main(["--check", str(board)]) == 0
    assert capsys.readouterr().out == "champion: as entered\ngreedy: as entered\n"
    # A second entry of the name takes the place of the first.
    assert command.main(["greedy", "--enter", str(board)]) == 0
    assert len(leaderboard.read(board).entries) == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: one["figures"].update(points=[99.0, 98.0, 100.0]), "champion: points: "),
        (lambda one: one["figures"].update(self_play=12.0), "champion: self_play: 12.0 entered"),
        (
            lambda one: one["weights"].update(champion="0" * 64),
            "champion: weights of champion: 0000",
        ),
    ],
)
def test_an_invented_figure_or_network_is_found(board, capsys, change, told):
    changed(board, change)
    assert command.main(["--check", str(board)]) == 1
    assert capsys.readouterr().out.startswith(told)


def test_an_invented_cell_is_found_by_playing_it(board, capsys, monkeypatch):
    monkeypatch.setattr(leaderboard, "CHECKED_CELLS", 9)
    changed(board, lambda one: one["cells"]["champion"].update({OTHERS[0]: 50.0}))
    assert command.main(["--check", str(board)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[1] for line in lines] == [
        " self_play",
        " champion against population",
        " as entered",
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: one["cells"].clear(), "expected cells of champion with every partner"),
        (lambda one: one["cells"].pop("champion"), "got others with champion"),
        (lambda one: one["cells"]["champion"].update(greedy=1.0), "got others with champion"),
        (lambda one: one.update(agent="exec:touch here"), "expected an agent"),
    ],
)
def test_an_entry_of_something_else_is_refused(board, capsys, change, told):
    changed(board, change)
    with pytest.raises(SystemExit) as stopped:
        command.main(["--check", str(board)])
    assert stopped.value.code == 2
    assert told in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_the_command_line_may_name_code(board):
    changed(board, lambda one: one.update(agent="exec:touch here"))
    assert command.main(["champion", "--check", str(board)]) == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "got no such file"),
        ("{", "expected a leaderboard of"),
        ('{"entries": []}', "expected a leaderboard of"),
        ('{"format": "goita-exam-2", "entries": []}', "'goita-exam-2'"),
        ('{"format": "goita-leaderboard-2", "entries": []}', "expected an entry or more"),
        ('{"format": "goita-exact-leaderboard-1", "entries": []}', "expected an entry or more"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--rules", "mini_3"]])
def test_a_check_without_an_entry_fails(tmp_path, capsys, content, words, options):
    path = tmp_path / "board.json"
    if content is not None:
        path.write_text(content)
    assert command.main([*options, "--check", str(path)]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--test"], "it is of the validation split, --test of the test split"),
        (["--rules", "mini_3"], "it is of jga, --rules of mini_3"),
    ],
)
def test_an_entry_that_is_not_checked_is_named_with_the_reason(board, capsys, options, why):
    assert command.main([*options, "--check", str(board)]) == 1
    lines = [f"{name}: not checked: {why}\n" for name in ("champion", "greedy")]
    assert capsys.readouterr().out == "".join(lines)


def test_an_agent_without_an_entry_fails_a_check(board, capsys):
    assert command.main(["random", "--check", str(board)]) == 1
    assert "got 'random'" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--quick"], ["--seed", "0"], ["--enter", "other.json"]])
def test_a_check_takes_no_option_that_it_would_not_follow(board, capsys, options):
    with pytest.raises(SystemExit):
        command.main([*options, "--check", str(board)])
    assert f"expected no {options[0]} with --check" in capsys.readouterr().err


def test_only_unmarked_results_are_entered(tmp_path, capsys):
    board = tmp_path / "board.json"
    assert command.main(["greedy", "--seed", "3", "--enter", str(board)]) == 1
    assert "expected an entry without marks, got greedy: seed given" in capsys.readouterr().err
    assert not board.exists()


@pytest.mark.parametrize("argv", [["greedy"], ["greedy", "--rules", "mini_3"]])
def test_a_file_that_takes_no_such_entries_is_refused_before_the_first_deal(argv, tmp_path, capsys):
    other = "goita-leaderboard-2" if "--rules" in argv else "goita-exact-leaderboard-1"
    (tmp_path / "board.json").write_text(f'{{"format": "{other}", "entries": []}}')
    with pytest.raises(SystemExit, match="2"):
        command.main([*argv, "--enter", str(tmp_path / "board.json"), "--json", "/dev/stdout"])
    printed = capsys.readouterr()
    assert (printed.out, "of the same benchmark" in printed.err) == ("", True)


def test_an_entry_replaces_only_one_of_the_same_ranking(board):
    first = leaderboard.read(board)
    in_matches = [msgspec.structs.replace(entry, episode="match") for entry in first.entries]
    leaderboard.add(board, msgspec.structs.replace(first, entries=tuple(in_matches)))
    leaderboard.add(board, first)
    both = leaderboard.read(board).entries
    assert sorted(entry.episode for entry in both) == ["match"] * 2 + ["round"] * 2
    assert len({(entry.ranking, entry.name) for entry in both}) == 4


def test_a_file_of_another_format_is_refused(tmp_path):
    board = tmp_path / "board.json"
    board.write_text('{"format": "another", "entries": []}')
    with pytest.raises(SettingError, match="expected a leaderboard of goita-leaderboard-2"):
        leaderboard.read(board)
