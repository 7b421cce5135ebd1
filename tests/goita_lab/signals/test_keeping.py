"""Parts of a study: stopped and gone on with, kept to the digit, and those of others."""

from dataclasses import replace

import pytest

from goita_agents.models import PolicyModel
from goita_lab.signals import listening, settings
from goita_lab.signals import plan as planning
from goita_lab.signals.listening import POLICY, listen, standard_models
from goita_lab.signals.plan import quick
from goita_lab.signals.playing import play
from goita_lab.signals.study import study, to_json
from goita_lab.store import pack
from goita_lab.work import Runner

SMALL = {"deals": 2, "gap_deals": 2, "value_deals": 2, "signals": 2}
SMALL |= {"rounds": 30, "cross_play_deals": 4, "worlds": 1}


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
    made = []
    work = planning._do
    monkeypatch.setattr(planning, "_do", lambda *given: made.append(given) or work(*given))
    again = study(plan, Runner(results=file))
    assert len(made) == 1  # of four
    assert to_json(again, "x") == to_json(whole, "x")

    made.clear()
    monkeypatch.setattr(settings, "code", lambda: "other code")
    with pytest.raises(KeyboardInterrupt):
        study(plan, stopped(file, 1))
    assert len(made) == 1


@pytest.fixture(scope="module")
def told():
    return play(["greedy"], 3)


def test_listening_that_was_stopped_does_no_deal_again(told, tmp_path, monkeypatch):
    monkeypatch.setattr(listening, "PIECE", 2)
    models, file, made = standard_models("greedy"), tmp_path / "results", []
    whole = listen(told, models)
    with pytest.raises(KeyboardInterrupt):
        listen(told, models, runner=stopped(file, 1))
    follow = listening._follow
    monkeypatch.setattr(
        listening, "_follow", lambda *given: made.append(given[1]) or follow(*given)
    )
    again = listen(told, models, runner=Runner(results=file))
    assert made == [2]
    assert pack(again) == pack(whole)
    # Another model of the same names, or other options, are other work.
    random = PolicyModel("random")
    random.name = models[POLICY].name
    for other, options in ((models | {POLICY: random}, {}), (models, {"known": False})):
        made.clear()
        listen(told, other, runner=Runner(results=file), **options)
        assert made == [0, 1, 2]
