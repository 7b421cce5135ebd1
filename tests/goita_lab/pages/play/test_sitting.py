"""Rounds that are over: analysed, and tried again; the matches of a folder."""

import json
import re
import sqlite3
import time
from contextlib import ExitStack

import pytest

from goita_env.errors import SettingError
from goita_lab.pages import watch
from goita_lab.pages.play import matches as matches_module
from goita_lab.pages.play.background import Background, Progress
from goita_lab.pages.play.matches import Matches
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import TITLE, Sitting
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.analysis import key_of
from goita_lab.pages.watch.reading import of_match, rounds_of
from play_tables import GREEDY, TOKEN, any_move, play_on, request

pytest.importorskip("starlette")

from goita_lab.pages.play import web

SEED = 5
"""Of a match whose first round is decided by play."""
REDEALT = 16
"""Of a match whose first round has a redeal."""


def played(rounds: int = 1, agents=GREEDY) -> PlayTable:
    """A match of which some rounds are over."""
    table = PlayTable(MatchSettings(agents, SEED))
    list(play_on(table, any_move(0), rounds - 1))
    end(table, any_move(0))
    return table


def end(table: PlayTable, choose) -> None:
    """Plays a round to its end."""
    while table.asks not in ("round", "match"):
        list(table.advance())
        if table.asks == "move":
            table.decide(choose(table))


def post(app: object, path: str, told: dict | None = None) -> tuple[int, dict]:
    status, _, body, _ = request(app, f"/{TOKEN}/{path}", told or {})
    return status, json.loads(body)


def now(app: object) -> dict:
    return json.loads(request(app, f"/{TOKEN}/state")[2])


CHEAP = {"agent": "greedy", "worlds": 8, "types": ("greedy",)}


@pytest.fixture
def sitting(tmp_path):
    """A match with a round that is over, in a folder, whose analysis takes a moment."""
    with ExitStack() as stack:
        found = Sitting(played(), Matches(tmp_path / "match.json", stack), Background(**CHEAP))
        stack.callback(found.close)
        yield found


def ready(sitting: Sitting) -> list[Progress]:
    """Waits for the analysis; returns how far it was."""
    deadline, told = time.monotonic() + 120, []
    while isinstance(now_at := sitting.analysis(), Progress):
        told.append(now_at)
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return told


def test_the_page_is_that_of_goita_watch_for_the_player(sitting):
    app = web.application(sitting, TOKEN, "")
    status, headers, text, _ = request(app, f"/{TOKEN}/analysis")
    assert (status, headers["refresh"]) == (200, "2")
    assert "Deals analysed: 0 of 1" in text.decode()
    told = ready(sitting)
    assert {one.of for one in told} == {1}
    status, headers, text, _ = request(app, f"/{TOKEN}/analysis")
    assert status == 200
    assert "refresh" not in headers
    for policy in ("script", "style"):
        assert re.search(rf"{policy}-src 'sha256-[^']+';", headers["content-security-policy"])
    assert "unsafe-inline" not in headers["content-security-policy"]
    source = of_match(sitting.match.finished, TITLE)
    analysis = watch.analyse(source, **CHEAP)
    assert text.decode() == watch.page(source, analysis, sitting.match.seat)
    assert "自分" in sitting.analysis("ja")


def test_what_is_ready_is_kept_beside_the_match_and_found_after_a_restart(sitting, tmp_path):
    ready(sitting)
    (kept,) = tmp_path.iterdir()
    assert kept.name == "match.json.analysis"
    before = kept.read_bytes()
    sitting.close()
    again = Sitting(sitting.match, sitting.matches, Background(**CHEAP))
    ready(again)
    assert kept.read_bytes() == before
    again.match.next_round()
    end(again.match, any_move(0))
    ready(again)
    parts = sqlite3.connect(kept).execute("SELECT key FROM parts").fetchall()
    deals = of_match(again.match.finished, TITLE).deals
    assert {key for (key,) in parts} == {key_of(one.deal, one.earlier) for one in deals}
    again.close()


def test_a_question_how_far_it_is_looks_at_no_deal(sitting, monkeypatch):
    sitting.analysis()
    monkeypatch.setattr(PlayTable, "finished", property(lambda _: pytest.fail("looked")))
    ready(sitting)


def test_a_failed_analysis_is_told_once_and_begun_again(tmp_path):
    (tmp_path / "match.json.analysis").write_text("{}")
    with ExitStack() as stack:
        matches = Matches(tmp_path / "match.json", stack)
        sitting = Sitting(played(), matches, Background(**CHEAP))
        with pytest.raises(SettingError, match=r"The analysis failed: .*is not a database"):
            ready(sitting)
        (tmp_path / "match.json.analysis").unlink()
        ready(sitting)
        sitting.close()


def test_a_killed_process_is_told_and_another_one_begun(sitting):
    sitting.analysis()
    sitting._background._process.kill()
    with pytest.raises(SettingError, match="The analysis failed: its process ended"):
        ready(sitting)
    ready(sitting)


def test_a_redeal_is_no_round_of_its_own():
    table = PlayTable(MatchSettings(GREEDY, REDEALT))
    end(table, any_move(0))
    deals = of_match(table.finished, "").deals
    assert rounds_of(deals) == [1, 1]


def test_nothing_is_analysed_or_tried_before_a_round_is_over():
    table = PlayTable(MatchSettings(GREEDY, SEED))
    app = web.application(Sitting(table), TOKEN, "")
    request(app, f"/{TOKEN}/state")
    assert request(app, f"/{TOKEN}/analysis")[0] == 409
    assert post(app, "again", {"deal": 0, "move": 1})[0] == 409


def test_a_round_is_tried_again_with_the_same_hidden_hands_and_does_not_count():
    table = played()
    before, deal = table.record, table.finished.deals[-1]
    sitting = Sitting(table)
    app = web.application(sitting, TOKEN, "")
    own = next(n for n, (seat, _) in enumerate(deal.moves, 1) if seat == table.seat)
    status, state = post(app, "again", {"deal": len(table.finished.deals), "move": own})
    assert status == 200
    assert state["trial"]["move"] == own
    assert sitting.table.game.dealt.tolist() == next(iter(deal.replay())).dealt.tolist()
    assert sitting.table.game.moves[: own - 1] == list(deal.moves[: own - 1])
    end(sitting.table, any_move(3))
    state = now(app)
    assert state["asks"] == "trial"
    assert "; in the match: " in state["question"]
    assert post(app, "next", {"mark": state["mark"]})[0] == 409
    assert table.record == before
    status, state = post(app, "leave", {"mark": state["mark"]})
    assert (status, state["asks"], state["trial"]) == (200, "round", None)


def test_tiles_dealt_again_in_a_trial_are_none_of_the_match():
    """The next hands of the match would be seen, all open, when the trial ends."""
    sitting = Sitting(played())
    sitting.try_again(0, 1)
    assert sitting.table.settings.seed != sitting.match.settings.seed


@pytest.mark.parametrize("told", [{"deal": 99, "move": 1}, {"deal": 1, "move": 0}, {"deal": 1}])
def test_there_must_be_such_a_deal_and_move(told):
    sitting = Sitting(played())
    app = web.application(sitting, TOKEN, "")
    status, answer = post(app, "again", told)
    assert status == 409
    assert answer["error"].startswith("expected ")
    assert sitting.trial is None


@pytest.fixture
def matches(tmp_path, monkeypatch):
    """The matches of an empty folder; a new one begins with a round that is not over at once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(matches_module, "new_seed", lambda: 0)
    with ExitStack() as stack:
        yield Matches(tmp_path / "elsewhere.json", stack)


def test_a_new_match_has_the_same_players_and_other_deals(matches):
    table = played()
    list(play_on(table, any_move(1)))
    sitting = Sitting(table, matches)
    app = web.application(sitting, TOKEN, "")
    state = now(app)
    assert state["asks"] == "match"
    status, fresh = post(app, "match", {"mark": state["mark"]})
    assert status == 200
    assert fresh["scores"] == [0, 0]
    assert fresh["rounds"] == []
    assert sitting.match is sitting.table is not table
    assert sitting.match.settings.agents == table.settings.agents
    assert sitting.match.settings.seed != table.settings.seed
    assert post(app, "match", {"mark": fresh["mark"]})[0] == 409  # this one is not over


def test_another_match_has_the_players_and_rules_that_were_chosen(matches):
    sitting = Sitting(played(), matches)
    app = web.application(sitting, TOKEN, "")
    wanted = {"partner": "champion", "next": "greedy", "previous": "random", "rules": "nine"}
    for wrong in ({"partner": "exec:rm"}, {"rules": "of mine"}, {"next": ""}, {"previous": 3}):
        status, _ = post(app, "match", wanted | wrong | {"mark": now(app)["mark"]})
        assert status == 409
    status, state = post(app, "match", wanted | {"mark": now(app)["mark"]})
    assert status == 200
    assert sitting.match.settings.others == ("greedy", "champion", "random")
    assert sitting.match.settings.rules.name == "nine"
    assert state["scores"] == [0, 0]


def test_the_matches_of_the_folder_are_listed_and_opened(matches, tmp_path):
    sitting = Sitting(played(), matches)
    app = web.application(sitting, TOKEN, "")
    wanted = {"partner": "greedy", "next": "greedy", "previous": "greedy", "rules": "jga"}
    assert post(app, "match", wanted | {"mark": now(app)["mark"]})[0] == 200
    end(sitting.match, any_move(0))
    first = sitting.match
    assert post(app, "match", wanted | {"mark": now(app)["mark"]})[0] == 200
    (tmp_path / "match-7.json").write_text("{}")
    told = json.loads(request(app, f"/{TOKEN}/matches")[2])
    assert told["file"] == "match-2.json"
    own, others = first.scores
    assert [(one["file"], one["result"]) for one in told["kept"]] == [
        ("match-2.json", "0 : 0"),
        ("match-1.json", f"{own} : {others}"),
    ]
    for wrong in ("match-7.json", "match-8.json", "../match-1.json", "elsewhere.json"):
        assert post(app, "open", {"file": wrong, "mark": now(app)["mark"]})[0] == 409
    assert post(app, "open", {"file": "match-1.json", "mark": now(app)["mark"]})[0] == 200
    assert sitting.match.results == first.results
    assert sitting.match.record.deals == first.record.deals
