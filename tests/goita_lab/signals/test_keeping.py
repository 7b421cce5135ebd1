"""Parts of a study: stopped and gone on with, kept to the digit, and those of others."""

from dataclasses import replace

import pytest

from goita_lab.signals import settings
from goita_lab.signals.plan import quick
from goita_lab.signals.study import study, to_json
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
    made, work = [], settings._do
    monkeypatch.setattr(settings, "_do", lambda piece: made.append(piece) or work(piece))
    again = study(plan, Runner(results=file))
    assert len(made) == 1  # of four
    assert to_json(again, "x") == to_json(whole, "x")

    made.clear()
    monkeypatch.setattr(settings, "code", lambda: "other code")
    with pytest.raises(KeyboardInterrupt):
        study(plan, stopped(file, 1))
    assert len(made) == 1
