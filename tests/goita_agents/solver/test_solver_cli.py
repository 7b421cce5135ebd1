"""The solver's command line: a history string in, each legal action with its value out."""

import json
import re
import sys

import pytest

import programs
from goita_lab.commands import solve as command
from record_samples import LINE
from solver_positions import KNOWN, KNOWN_VALUES


def test_the_command_prints_each_legal_action_with_its_value(capsys):
    assert command.main([KNOWN]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, value in KNOWN_VALUES.items():
        word = "(p|pass)" if name == "p" else name
        row = re.compile(rf"(?<!\w){word}(?!\w).*(?<![\w-]){value}(?!\w)")
        assert any(row.search(line) for line in lines), (name, lines)


def test_the_command_takes_a_rule_set_of_ones_own_from_a_file(tmp_path, capsys):
    file = tmp_path / "my_rules.json"
    file.write_text('{"name": "mine", "last_king": false}')
    assert command.main([KNOWN, "--rules", str(file)]) == 0
    assert "(mine)" in capsys.readouterr().out
    file.write_text("{}")
    assert "'name'" in programs.refusal(capsys, command.main, [KNOWN, "--rules", str(file)])


@pytest.mark.parametrize("text", ["hello", LINE, KNOWN + ",1p", ""])
def test_bad_input_ends_the_command_with_one_line(text, capsys):
    (line,) = programs.refusal(capsys, command.main, [text]).strip().splitlines()
    assert re.search("expected .*got ", line)


@pytest.mark.slow
def test_the_benchmark_prints_a_row_for_each_depth(tmp_path):
    command = [sys.executable, "benchmarks/solver.py", "--positions", "1"]
    done = programs.run([*command, "--json", tmp_path / "out.json"], check=True, timeout=None)
    rows = [line.split("|")[1].strip() for line in done.stdout.splitlines()[2:9]]
    assert rows == ["6", "5", "4", "3", "2", "1", "0 (whole deal)"]
    assert "The known position, all four actions:" in done.stdout
    assert len(json.loads((tmp_path / "out.json").read_text())["depths"]) == 7


def test_without_numba_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from goita_agents import load_agent; load_agent('solver')"
    )
    done = programs.run([sys.executable, "-c", code], timeout=None)
    assert done.returncode == 1
    assert "AgentError: expected to build 'solver'" in done.stderr
    assert "pip install -e '.[agents]'" in done.stderr
