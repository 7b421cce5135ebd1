"""Records followed move by move, the study and its page, the commands."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from record_samples import LINE, SIX, YAML

import goita_env
from agents.base import AgentError
from agents.beliefs import GROUNDED, Assumed
from agents.signals import sentences
from agents.signals.commands import main
from agents.signals.follow import follow_deal, read_record, table
from agents.signals.numbers import to_json
from agents.signals.page import figures as page_figures
from agents.signals.page import html
from agents.signals.study import Study, full, quick, study, version_of
from agents.statistics.intervals import Interval
from goita_env import records
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord


@pytest.fixture(scope="module")
def deal():
    return records.history.loads(LINE).deals[0]


@pytest.fixture(scope="module")
def steps(deal):
    return follow_deal(deal, 0, Assumed("greedy"), GROUNDED)


def test_every_move_is_followed(deal, steps):
    assert [step.move for step in steps] == list(range(1, len(deal.moves) + 1))
    assert [step.seat for step in steps] == [seat for seat, _ in deal.moves]
    for step in steps:
        assert step.who == ("itself", "next", "partner", "previous")[step.seat]
        assert step.told >= 0
        assert step.told == 0 or step.who != "itself"
        assert step.expected.sum() == pytest.approx(8)
        if step.who == "partner":
            assert step.about_partner == pytest.approx(step.told)


def test_changes_add_up_to_what_is_expected(steps):
    for before, after in pairwise(steps):
        assert before.expected + after.changed == pytest.approx(after.expected)


def test_the_seat_sees_no_block_that_lies_face_down(deal, steps):
    written = [step.action for step in steps if step.who == "partner" and step.action != "p"]
    assert written[0].startswith("?")
    text = table(deal, 0, steps, "greedy")
    assert "the others are supposed to play as greedy" in text
    assert "it was dealt" in text


def test_a_yaml_kifu_and_history_strings_are_read(tmp_path, deal):
    for name, text in (("a.yaml", YAML), ("a.txt", LINE)):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        assert read_record(file).deals[0].moves == deal.moves


@pytest.mark.parametrize("seat", [4, -1, True, "0"])
def test_a_seat_that_is_none_is_refused(deal, seat):
    with pytest.raises(SettingError, match=r"expected a seat 0\.\.3"):
        follow_deal(deal, seat, GROUNDED, GROUNDED)


def test_an_impossible_record_is_refused(deal):
    wrong = replace(deal, moves=(*deal.moves[:3], (0, 1)))
    with pytest.raises(RecordError, match="deal 1, move 4"):
        follow_deal(wrong, 0, GROUNDED, GROUNDED)
    empty = DealRecord(tuple(SIX), 0, ((0, 65),))
    with pytest.raises(RecordError, match="expected plays to follow, got none"):
        follow_deal(empty, 1, GROUNDED, GROUNDED)


def test_the_command_follows_a_record_and_refuses_others(tmp_path, capsys):
    file = tmp_path / "deal.txt"
    file.write_text(LINE, encoding="utf-8")
    given = ["follow", str(file), "--seat", "0", "--assume"]
    assert main([*given, "greedy"]) == 0
    assert "followed by seat 0" in capsys.readouterr().out
    assert main([*given, "rollout"]) == 1
    assert "known probabilities" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([*given, "greedy", "--deal", "2"])
    assert "expected a deal 1 to 1, got 2" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["listen"])
    assert "expected a command of log, report, follow" in capsys.readouterr().err
    assert main(["--help"]) == 0


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("sklearn")
    pytest.importorskip("jinja2")
    sizes = {"heard": 4, "overheard": 2, "valued": 2, "signals": 2, "rounds": 60, "partners": 8}
    controls = ("random", "heuristic:conventions=off")
    plan = replace(quick(("greedy", "random"), controls=controls), worlds=4, **sizes)
    return study(plan, progress=lambda done: None)


def test_a_study_has_every_measure_of_every_agent(found):
    assert [one.agent for one in found.agents] == ["greedy", "random"]
    at_random = found.agents[1]
    assert at_random.split.policy.mean == pytest.approx(0, abs=1e-9)
    assert at_random.probe is None
    wrong = {"greedy", "hard facts", "its tree"}
    assert set(at_random.misreading_cost) == wrong
    assert {one.decoder for one in at_random.misreading} == {"policy", *wrong}
    assert found.distances.keys() == {("greedy", "random")}
    assert found.partners.shape == (2, 2)
    (control,) = found.controls
    assert control.agent == "heuristic:conventions=off"
    assert np.isfinite(control.split.policy.mean)
    assert found.agents[0].version == control.version == f"goita-env {goita_env.__version__}"
    assert found.agents[0].levels.keys() > {"policy alone", "deaf, hard facts", "listening"}


def test_a_network_is_named_with_its_decisions():
    assert re.match(r"\d{3},\d{3},\d{3} decisions, goita-env", version_of("champion"))


def test_the_share_of_a_study_scales_what_is_listened_to():
    assert (full(("greedy",)).heard, full(("greedy",), 0.25).heard) == (600, 150)
    assert full(("greedy",), 0.25).rounds == full(("greedy",)).rounds
    with pytest.raises(SettingError, match="expected a share above 0"):
        full(("greedy",), 0.0)


def test_the_numbers_are_json(found):
    told = json.loads(to_json(found, "report"))
    assert told["format"] == "goita-signals-study-2"
    first, at_random = told["study"]["agents"]
    assert first["agent"] == "greedy"
    assert at_random["probe"] is None
    assert first["value"]["partner"].keys() == {"mean", "low", "high"}
    assert told["study"]["distances"].keys() == {"greedy | random"}
    assert told["study"]["plan"]["rules"] == {"rules": "jga"}


def test_the_page_holds_it_all_in_one_file(found):
    page = html(found, "python -m agents.signals report <greedy>")
    for words in ("In short", "Figures", "What each action tells", "Trees and probes"):
        assert words in page
    assert "report &lt;greedy&gt;" in page
    assert "://" not in page
    assert "<script" not in page
    assert page.count("<tr>") == page.count("</tr>") > 50
    assert "control: heuristic:conventions=off" in page
    assert "p below 0.05 needs 4" in page
    for claim in ("private code", "policy information", "goita-env"):
        assert claim in page
    assert "convention, not" not in page
    figures = {name: cells for name, _, cells in page_figures(found)}
    assert len(figures["Policy alone"]) == len(figures["Speaker consistency"]) == 3
    assert figures["Policy alone"][2] == ""
    assert all(figures["Known of it: policy information"])


def test_a_sentence_claims_what_its_interval_carries_and_no_more(found):
    one = found.agents[0]

    def said(interval):
        value = one.value | {"partner": interval}
        return " ".join(sentences.about(replace(one, value=value)))

    assert "Listening to the partner is worth 1.00 [0.50, 1.50]" in said(Interval(1, 0.5, 1.5))
    assert "is left open: 1.00 [−0.50, 2.50]" in said(Interval(1, -0.5, 2.5))
    assert "costs a seat that searches" in said(Interval(-1, -1.5, -0.5))
    assert isinstance(found, Study)
    assert np.isfinite(found.gap.gap)


def test_an_impossible_study_is_refused():
    with pytest.raises(SettingError, match="expected different agents"):
        study(quick(("greedy", "greedy")))
    with pytest.raises(AgentError, match="a known policy"):
        study(quick(("rollout",)))


def test_the_report_command_refuses_a_place_that_is_none(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["report", "greedy", "-o", str(tmp_path / "no" / "page.html"), "--quick"])
    assert "expected a file in a folder that exists" in capsys.readouterr().err
