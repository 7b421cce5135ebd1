"""The study and its page, and the commands."""

import json
import re
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest

import goita_env
from goita_agents.base import AgentError
from goita_agents.principles import PRINCIPLES
from goita_env.errors import SettingError
from goita_env.rules import get_rules
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.commands.signals import main
from goita_lab.signals import plan as planning
from goita_lab.signals.page import UNITS, html
from goita_lab.signals.page import figures as page_figures
from goita_lab.signals.plan import full, quick
from goita_lab.signals.playing import load_policy
from goita_lab.signals.rounds import play_study
from goita_lab.signals.study import study, to_json, version_of
from goita_lab.work import HERE, Runner
from programs import ROOT, refusal
from raising import refuses

SMALL = {"deals": 2, "gap_deals": 2, "value_deals": 2, "signals": 2}
SMALL |= {"rounds": 30, "cross_play_deals": 4, "worlds": 1}


def test_commands_that_are_none_and_pages_without_a_folder_are_refused(tmp_path, capsys):
    page = str(tmp_path / "no" / "page.html")
    for words, error in (
        (["listen"], "expected a command of log, report, worth, messages"),
        (["report", "greedy", "-o", page, "--quick"], "there is no folder"),
        (["worth", "a=greedy", "a=random"], "expected another name for each agent"),
        (["worth", "greedy", "--seed", str((1 << 64) - 1)], "expected a seed from 0 to"),
    ):
        assert error in refusal(capsys, main, words)


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("sklearn")
    pytest.importorskip("jinja2")
    controls = ("random", "mine=random")
    return study(replace(quick(("greedy", "random"), controls=controls), **(SMALL | {"deals": 3})))


def test_a_study_has_every_measure_of_every_agent(found):
    assert [one.agent for one in found.agents] == ["greedy", "random"]
    at_random = found.agents[1]
    assert at_random.split.policy.mean == pytest.approx(0, abs=1e-9)
    assert at_random.probe is None
    wrong = {"greedy", "legal", "tree"}
    assert set(at_random.model_mismatch_cost) == wrong
    assert {one.model for one in at_random.model_mismatch} == {"policy", *wrong}
    assert found.distances.keys() == {("greedy", "random")}
    assert found.partners.shape == (2, 2)
    (control,) = found.controls
    assert control.agent == "mine=random"
    assert np.isfinite(control.split.policy.mean)
    assert found.agents[0].version == control.version == f"goita-env {goita_env.__version__}"
    levels = found.agents[0].levels
    assert levels.over_legal.mean == pytest.approx(levels.listening.mean - levels.legal.mean)
    assert len(found.agents[0].principles) == len(control.principles) == len(PRINCIPLES)


def test_the_share_of_a_study_scales_what_is_listened_to_and_others_are_refused():
    assert re.match(r"\d{3},\d{3},\d{3} decisions, goita-env", version_of(load_policy("champion")))
    assert (full(("greedy",)).deals, full(("greedy",), 0.25).deals) == (300, 75)
    assert full(("greedy",), 0.25).rounds == full(("greedy",)).rounds
    refuses(SettingError, "expected a share above 0", full, ("greedy",), 0.0)
    refuses(SettingError, "expected different agents", study, quick(("greedy", "greedy")))
    refuses(AgentError, "a known policy", study, quick(("rollout",)))


def test_the_numbers_are_json(found):
    told = json.loads(to_json(found, "report", {}))
    assert told["format"] == "goita-signals-study-6"
    first, at_random = told["study"]["agents"]
    assert first["agent"] == "greedy"
    assert at_random["probe"] is None
    assert first["value"]["partner"].keys() == {"mean", "low", "high", "few"}
    assert told["study"]["distances"].keys() == {"greedy | random"}
    assert told["study"]["plan"]["rules"] == {"rules": "jga"}


def test_the_page_holds_it_all_in_one_file(found):
    page = html(found, "goita signals report <greedy>")
    for heading in ("Figures", "Principles", "Model mismatch", "Trees and probes"):
        place = heading.lower().replace(" ", "-")
        assert f'<section id="{place}">\n<h2>{heading}</h2>' in page
        assert f'<a href="#{place}">{heading}</a>' in page
    assert page.count('class="chart"') == 5
    assert page.count("<details") == page.count("</details>") > 10
    assert "report &lt;greedy&gt;" in page
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert page.count("<script") == 1
    assert page.count("<tr>") == page.count("</tr>") > 50
    assert "control: mine<" in page
    assert "p below 0.05 needs 4" in page
    figures = {name: cells for name, _, cells in page_figures(found)}
    assert len(figures["levels: policy"]) == len(figures["consistency: interval"]) == 3
    assert figures["levels: policy"][2] == ""
    assert all(figures["split: policy"])
    assert 25 < len(figures) < 45
    # Every measure's interval has its row, whatever an annotation is written like.
    agent = found.agents[0]
    values = [(name, getattr(agent, name)) for name in UNITS]
    names = {
        f"{name}: {part}".replace("_", " ")
        for name, value in values
        if not isinstance(value, Interval)
        for part, figure in vars(value).items()
        if isinstance(figure, Interval)
    }
    assert len(names) > 25
    assert names <= figures.keys()


def test_the_page_has_every_figure_that_the_json_has_of_its_measures_open_ones_too(found):
    told = json.loads(to_json(found, "report", {}))["study"]
    figures, shown = {name: cells for name, _, cells in page_figures(found)}, set()
    for column, agent in enumerate([*told["agents"], *told["controls"]]):
        for measure in UNITS.keys() & agent.keys():
            parts = {"": agent[measure]} if "mean" in agent[measure] else agent[measure]
            for part, interval in parts.items():
                if isinstance(interval, dict | None):
                    name = f"{measure}: {part}".removesuffix(": ").replace("_", " ")
                    cell = figures[name][column].split()[0].replace("\u2212", "-")
                    mean = pytest.approx(interval["mean"], abs=5.1e-4) if interval else "open"
                    assert (float(cell) if interval else cell) == mean
                    shown.add(name)
    assert {"split: share", "ceilings: efficiency", "opponent information cost"} < shown
    assert shown == {name for name in figures if name[0].islower()}


def test_every_round_of_a_study_is_played_by_its_rules():
    pytest.importorskip("sklearn")
    rules = get_rules("pagat")
    rounds = play_study(replace(quick(("random",), controls=(), rules=rules), **SMALL), HERE)
    (speaker,), (heard,), (overheard,), (duel,) = (
        table.values() for table in (rounds.speakers, rounds.heard, rounds.overheard, rounds.duels)
    )
    plays = (speaker.observed, heard.play, overheard.play, duel, rounds.shared)
    assert {play.rules for play in plays} == {rules}


def stopped(file, pieces):
    """Returns what stops a study after some pieces."""

    def progress(what, done, of):
        if done == pieces:
            raise KeyboardInterrupt

    return Runner(results=file, progress=progress)


@pytest.mark.slow
def test_a_study_that_was_stopped_ends_as_one_that_was_not_to_the_digit(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    plan = replace(quick(("random",), controls=()), **SMALL)
    whole = study(plan)
    file = tmp_path / "page.html.parts"
    with pytest.raises(KeyboardInterrupt):
        study(plan, stopped(file, 3))
    made, work = [], planning._do
    monkeypatch.setattr(planning, "_do", lambda piece: made.append(piece) or work(piece))
    again = study(plan, Runner(results=file))
    assert len(made) == 1  # of four
    assert to_json(again, "x", {}) == to_json(whole, "x", {})

    other = replace(plan, seed=1)
    refuses(SettingError, "settings.seed 0, now 1", study, other, Runner(results=file))
    assert len(made) == 1


@pytest.mark.pages
def test_the_tutorial_goes_from_a_pass_to_points(capsys):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    spec = spec_from_file_location("tutorial", ROOT / "examples" / "what_a_pass_tells.py")
    tutorial = module_from_spec(spec)
    spec.loader.exec_module(tutorial)
    tutorial.main(2)
    told = capsys.readouterr().out
    assert "my partner passes" in told
    assert len(re.findall(r"If it plays as .*: \d\.\d\d nats", told)) == 2
    assert re.search(r"Listening to the partner: [+-]\d+\.\d\d points a round", told)
