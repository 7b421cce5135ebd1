"""Rounds that are over: analysed, and tried again; the matches of a folder."""

import json
import re
import sqlite3
import time
from pathlib import Path

import pytest

from goita_env import __version__
from goita_env.errors import SettingError
from goita_lab.pages import watch
from goita_lab.pages.play import savegame
from goita_lab.pages.play import sitting as sittings
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import ANALYSIS_TITLE, AnalysisProgress, Background, Sitting
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.analysis import key_of
from goita_lab.pages.watch.pages import renewal
from goita_lab.pages.watch.reading import of_match
from play_tables import GREEDY, TOKEN, FedBackground, any_move, play_on, request

pytest.importorskip("starlette")

from goita_lab.pages.play import web

SEED = 5
"""Of a match whose first round is decided by play."""


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
    found = Sitting(played(), tmp_path / "match.json", background=Background(**CHEAP))
    yield found
    found.close()


def ready(sitting: Sitting) -> list[AnalysisProgress]:
    """Waits for the analysis of all deals; returns how far it was."""
    deadline, told = time.monotonic() + 120, []
    sitting.analysis()
    while (now_at := sitting._progress()).done < now_at.of:
        told.append(now_at)
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return told


def test_the_page_is_that_of_goita_watch_for_the_player(sitting, monkeypatch):
    app = web.application(sitting, TOKEN, "")
    status, headers, text, _ = request(app, f"/{TOKEN}/analysis")
    assert (status, headers["refresh"]) == (200, "2")
    assert "Deals analysed: 0 of 1" in text.decode()
    with monkeypatch.context() as patch:  # how far it is hangs on no deal
        patch.setattr(PlayTable, "finished", property(lambda _: pytest.fail("looked")))
        told = ready(sitting)
    assert {one.of for one in told} == {1}
    status, headers, text, _ = request(app, f"/{TOKEN}/analysis")
    assert status == 200
    assert "refresh" not in headers
    for policy in ("script", "style"):
        assert re.search(rf"{policy}-src 'sha256-[^']+';", headers["content-security-policy"])
    assert "unsafe-inline" not in headers["content-security-policy"]
    source = of_match(sitting.match.finished, ANALYSIS_TITLE)
    analysis = watch.analyse(source, **CHEAP)
    assert text.decode() == watch.page(source, analysis, sitting.match.seat)
    assert "自分" in sitting.analysis("ja")


def test_the_page_opens_at_the_first_analysed_deal_and_asks_for_the_others():
    background = FedBackground()
    sitting = Sitting(played(3), background=background)
    app = web.application(sitting, TOKEN, "")

    def renewed(digest: str, done: object) -> tuple[int, dict]:
        status, _, text, _ = request(app, f"/{TOKEN}/renewal?digest={digest}&done={done}")
        return status, json.loads(text)

    assert "Deals analysed: 0 of 3" in request(app, f"/{TOKEN}/analysis")[2].decode()
    source, analyses = of_match(sitting.match.finished, ANALYSIS_TITLE), []
    analyses.append(watch.analyse(source, **CHEAP, partial_analysis=analyses.append))
    seat = sitting.match.seat
    for done, analysis in enumerate(analyses, 1):
        assert len(analysis.missing) == 3 - done
        background.sender.send(analysis)
        digest, told = source.digest, renewed(source.digest, done - 1)[1]
        expected = {"done": done, **renewal(source, analysis, seat, "en")}
        assert told == json.loads(json.dumps(expected))
        assert [deal is None for deal in told["analysis"]["deals"]] == [
            index >= done for index in range(3)
        ]
        assert renewed(digest, done) == (200, {"done": done})
        page = request(app, f"/{TOKEN}/analysis")[2].decode()
        assert page == watch.page(source, analysis, seat)
        assert told["tables"] in page
    assert renewed("another", 0) == (200, {"done": None})
    assert renewed(digest, "x")[0] == 400
    background.sender.close()
    assert renewed(digest, 3) == (200, {"done": 3})  # it is complete and needs no process
    sitting.close()


def test_what_is_ready_is_kept_beside_the_match_and_found_after_a_restart(sitting, tmp_path):
    ready(sitting)
    (kept,) = tmp_path.iterdir()
    assert kept.name == f"match.json.{__version__}.analysed"
    before = kept.read_bytes()
    sitting.close()
    again = Sitting(sitting.match, sitting.path, background=Background(**CHEAP))
    ready(again)
    assert kept.read_bytes() == before
    again.match.next_round()
    end(again.match, any_move(0))
    ready(again)
    parts = sqlite3.connect(kept).execute("SELECT key FROM parts").fetchall()
    deals = of_match(again.match.finished, ANALYSIS_TITLE).deals
    assert {json.loads(key)[0] for (key,) in parts} == {
        key_of(one.deal, one.earlier) for one in deals
    }
    again.close()


def test_a_failed_analysis_is_told_once_and_begun_again(sitting):
    kept = sitting.path.with_name(f"match.json.{__version__}.analysed")
    kept.write_text("{}")
    with pytest.raises(SettingError, match=r"The analysis failed: .*is not a database"):
        ready(sitting)
    kept.unlink()
    sitting.analysis()
    sitting._background._process.kill()
    with pytest.raises(SettingError, match="The analysis failed: its process ended"):
        ready(sitting)
    ready(sitting)


def test_there_must_be_a_round_that_is_over_and_such_a_deal_and_move():
    app = web.application(Sitting(PlayTable(MatchSettings(GREEDY, SEED))), TOKEN, "")
    request(app, f"/{TOKEN}/state")
    assert request(app, f"/{TOKEN}/analysis")[0] == 409
    assert post(app, "again", {"deal": 0, "move": 1})[0] == 409
    sitting = Sitting(played())
    app = web.application(sitting, TOKEN, "")
    for told in ({"deal": 99, "move": 1}, {"deal": 1, "move": 0}, {"deal": 1}):
        status, answer = post(app, "again", told)
        assert status == 409
        assert answer["error"].startswith("expected ")
    assert sitting.trial is None


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
    # Tiles dealt again are none of the match, whose next hands would be seen when the trial ends.
    assert sitting.table.settings.seed != sitting.match.settings.seed
    end(sitting.table, any_move(3))
    state = now(app)
    assert state["asks"] == "trial"
    assert post(app, "next", {"mark": state["mark"]})[0] == 409
    assert table.record == before
    status, state = post(app, "leave", {"mark": state["mark"]})
    assert (status, state["asks"], state["trial"]) == (200, "round", None)


def test_a_new_match_has_the_same_players_and_the_matches_of_the_folder_are_opened(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sittings, "new_seed", lambda: 0)
    table = played()
    list(play_on(table, any_move(1)))
    sitting = Sitting(table)
    app = web.application(sitting, TOKEN, "")
    state = now(app)
    assert state["asks"] == "match"
    status, fresh = post(app, "match", {"mark": state["mark"]})
    assert status == 200
    assert (fresh["scores"], fresh["rounds"]) == ([0, 0], [])
    assert sitting.match is sitting.table is not table
    assert sitting.match.settings.agents == table.settings.agents
    assert sitting.match.settings.seed != table.settings.seed
    assert post(app, "match", {"mark": fresh["mark"]})[0] == 409  # this one is not over
    end(sitting.match, any_move(0))
    first, (own, others) = sitting.match, sitting.match.scores
    savegame.begin(MatchSettings(("greedy", "random", "greedy", ""), 3), Path("match-2.json"))
    (tmp_path / "match-7.json").write_text("{}")
    kept = json.loads(request(app, f"/{TOKEN}/matches")[2])
    assert kept["file"] == "match-1.json"
    assert [tuple(one.values()) for one in kept["kept"]] == [
        ("match-2.json", "random; greedy", "0 : 0"),
        ("match-1.json", "greedy; greedy", f"{own} : {others}"),
    ]
    for wrong in ("match-7.json", "match-8.json", "../match-1.json", "elsewhere.json"):
        assert post(app, "open", {"file": wrong, "mark": now(app)["mark"]})[0] == 409
    for name in ("match-2.json", "match-1.json"):
        assert post(app, "open", {"file": name, "mark": now(app)["mark"]})[0] == 200
    assert sitting.match.results == first.results
    assert sitting.match.record.deals == first.record.deals
    sitting.close()
    assert not list(tmp_path.glob(".*.lock"))
