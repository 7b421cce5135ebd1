"""Rounds that are over: their review, and rounds that are tried again."""

import json
import re
import time
from concurrent.futures import Future
from contextlib import ExitStack

import numpy as np
import pytest

from goita_env.errors import SettingError
from goita_lab.pages.play import advice, replies, review
from goita_lab.pages.play import matches as matches_module
from goita_lab.pages.play.matches import Matches
from goita_lab.pages.play.review import Reviewer
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import Sitting
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch import analyse, verdicts
from goita_lab.pages.watch.analysis import refine
from goita_lab.pages.watch.reading import Source, of_match, rounds_of
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


@pytest.fixture
def reviewer(monkeypatch):
    monkeypatch.setattr(review, "WORKERS", 1)  # each imports all again
    found = Reviewer(worlds=(1, 2))
    yield found
    found.close()


def _cheaply(watched, agent, worlds):
    return analyse(Source("", (watched,), 1), "greedy", worlds=worlds, types=("greedy",))


def review_until(app, deadline, is_enough) -> list[dict]:
    """Asks how far the review is until it is far enough."""
    asked = [post(app, "analyse")[1]]
    while not is_enough(asked[-1]):
        assert time.monotonic() < deadline
        time.sleep(0.3)
        asked.append(post(app, "analyse")[1])
    return asked


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_round_is_analysed_twice_and_its_page_says_with_how_many_worlds(
    whole, reviewer, monkeypatch
):
    if not whole:  # in a child process, too: the function goes there with the work
        monkeypatch.setattr(review, "_analysed", _cheaply)
    app = web.application(Sitting(played(), reviewer=reviewer), TOKEN, "")
    assert request(app, f"/{TOKEN}/review")[0] == 409
    deadline = time.monotonic() + 300
    asked = review_until(app, deadline, lambda told: told["ready"])
    assert request(app, f"/{TOKEN}/review")[0] == 200
    asked += review_until(app, deadline, lambda told: told["refined"] == told["rounds"])
    assert [one["refined"] for one in asked] == sorted(one["refined"] for one in asked)
    assert asked[-1] == {"rounds": 1, "ready": [1], "refined": 1, "seconds": 0}
    status, headers, page, _ = request(app, f"/{TOKEN}/review")
    assert status == 200
    text = page.decode()
    assert "a mean over up to 2 sets" in text
    assert 'data-refined="1"' in text
    for policy in ("script", "style"):
        assert re.search(rf"{policy}-src 'sha256-[^']+';", headers["content-security-policy"])
    assert "unsafe-inline" not in headers["content-security-policy"]


def test_rounds_that_are_analysed_are_shown_and_those_to_come_are_named(reviewer, monkeypatch):
    monkeypatch.setattr(review, "_analysed", _cheaply)
    monkeypatch.setattr(reviewer._processes, "submit", _done)
    table = played()
    app = web.application(Sitting(table, reviewer=reviewer), TOKEN, "")
    assert post(app, "analyse")[1]["ready"] == [1]
    waiting = []
    monkeypatch.setattr(
        reviewer._processes, "submit", lambda work: waiting.append(Future()) or waiting[-1]
    )
    table.next_round()
    end(table, any_move(0))
    told = post(app, "analyse")[1]
    assert (told["rounds"], told["ready"], told["seconds"]) == (2, [1], review.SECONDS)
    status, _, page, _ = request(app, f"/{TOKEN}/review")
    assert status == 200
    assert "Not analysed yet: round 2." in page.decode()
    assert "you <bdi>" not in page.decode()


def test_a_redeal_is_no_round_of_its_own():
    table = PlayTable(MatchSettings(GREEDY, REDEALT))
    end(table, any_move(0))
    deals = of_match(table.finished, "").deals
    assert rounds_of(deals) == [1, 1]


def test_nothing_more_is_analysed_when_nobody_waits(reviewer, monkeypatch):
    monkeypatch.setattr(review, "_analysed", _cheaply)
    waiting = []
    monkeypatch.setattr(
        reviewer._processes, "submit", lambda work: waiting.append(Future()) or waiting[-1]
    )
    table = played(2)
    deals = of_match(table.finished, "").deals
    reviewer.ask(deals)
    monkeypatch.setattr(review, "PATIENCE", -1.0)
    begun = len(waiting)
    waiting[0].set_result(_cheaply(deals[-1], "", 1))
    assert len(waiting) == begun


def test_a_decision_that_is_settled_is_not_valued_again(monkeypatch):
    deals = of_match(played().finished, "").deals
    source = Source("", deals[-1:], 1)
    found = analyse(source, "greedy", worlds=8, types=("greedy",))
    again = refine(source, found, 16)
    assert again.settings.worlds == 16
    for before, after in zip(found.deals[0], again.deals[0], strict=True):
        if verdicts.is_settled(before):
            assert after == before
        else:
            assert max(one.worlds for one in after.options) > max(
                one.worlds for one in before.options
            )
        assert after.knowledge == before.knowledge
        assert [one.open for one in after.options] == [one.open for one in before.options]
    monkeypatch.setattr(verdicts, "SETTLED", np.inf)
    whole = analyse(source, "greedy", worlds=16, types=("greedy",))
    assert refine(source, found, 16).deals == whole.deals


def test_nothing_is_reviewed_or_tried_before_a_round_is_over():
    table = PlayTable(MatchSettings(GREEDY, SEED))
    app = web.application(Sitting(table), TOKEN, "")
    request(app, f"/{TOKEN}/state")
    assert post(app, "analyse")[0] == 409
    assert request(app, f"/{TOKEN}/review")[0] == 409
    assert post(app, "again", {"deal": 0, "move": 1})[0] == 409


def test_a_failed_analysis_is_told_once_and_begun_again(reviewer, monkeypatch):
    def failing(*_):
        raise SettingError("expected something else")

    monkeypatch.setattr(review, "_analysed", failing)
    monkeypatch.setattr(reviewer._processes, "submit", _done)
    sitting = Sitting(played(), reviewer=reviewer)
    sitting.review()
    with pytest.raises(SettingError, match="The review failed: expected something else"):
        sitting.review()
    monkeypatch.undo()
    assert sitting.review().rounds == 1


def _done(work):
    future = Future()
    try:
        future.set_result(work())
    except SettingError as error:
        future.set_exception(error)
    return future


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


def test_the_round_that_is_tried_again_is_counted_without_redeals():
    table = PlayTable(MatchSettings(GREEDY, REDEALT))
    end(table, any_move(0))
    sitting = Sitting(table)
    for deal in (1, 2):
        sitting.try_again(deal, 1)
        assert (sitting.trial.round, sitting.trial.deal) == (1, deal)
    sitting.close()


def test_tiles_dealt_again_in_a_trial_are_none_of_the_match():
    """The next hands of the match would be seen, all open, when the trial ends."""
    sitting = Sitting(played())
    sitting.try_again(0, 1)
    assert sitting.table.settings.seed != sitting.match.settings.seed


def test_a_mark_of_a_trial_is_none_of_the_match():
    sitting = Sitting(played())
    here = replies.mark(sitting.table, sitting.trial)
    sitting.try_again(0, 1)
    assert replies.mark(sitting.table, sitting.trial) != here


@pytest.mark.parametrize("told", [{"deal": 99, "move": 1}, {"deal": 1, "move": 0}, {"deal": 1}])
def test_there_must_be_such_a_deal_and_move(told):
    sitting = Sitting(played())
    app = web.application(sitting, TOKEN, "")
    status, answer = post(app, "again", told)
    assert status == 409
    assert answer["error"].startswith("expected ")
    assert sitting.trial is None


def test_any_line_of_any_seat_can_be_tried_from_a_position(monkeypatch):
    monkeypatch.setattr(advice, "WORLDS", 8)
    sitting = Sitting(played())
    app = web.application(sitting, TOKEN, "")
    deals = sitting.match.finished.deals
    number, deal = len(deals), deals[-1]
    move = len(deal.moves) // 2
    asked = {"deal": number, "move": move, "valued": True}
    status, told = post(app, "variation", asked | {"line": []})
    assert status == 200
    assert told["seat"] == deal.moves[move - 1][0]
    assert len(told["svg"]) > 1000
    line = []
    while told["options"]:
        valued = [one for one in told["options"] if one["points"] is not None]
        assert len(valued) == (len(told["options"]) if len(told["options"]) > 1 else 0)
        points = [float(one["points"].replace("−", "-")) for one in valued[1:]]
        assert points == sorted(points, reverse=True)
        line.append(told["options"][-1]["code"])
        at_once = post(app, "variation", asked | {"line": line, "valued": False})[1]
        assert {one["points"] for one in at_once["options"]} <= {None}
        status, told = post(app, "variation", asked | {"line": line})
        assert told["svg"] == at_once["svg"]
        assert status == 200
    assert re.fullmatch(r"\w+ ends? the round: \d+ points|The tiles .*", told["end"])
    more = {"deal": number, "move": move, "line": [*line, line[-1]]}
    assert post(app, "variation", more) == (409, {"error": "expected no action: the round is over"})
    for wrong in (
        {"line": [12]},
        {"line": 3},
        {"line": ["bad"]},
        {"line": ["continue", "continue"]},
        {"deal": number + 1},
    ):
        status, told = post(app, "variation", {"deal": number, "move": move, "line": []} | wrong)
        assert (status, list(told)) == (409, ["error"])
    assert sitting.table is sitting.match
    assert sitting.match.finished.deals == deals


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


def test_every_rule_set_that_is_offered_begins_a_match(matches):
    sitting = Sitting(played(), matches)
    app = web.application(sitting, TOKEN, "")
    offered = [name for name, _ in json.loads(request(app, f"/{TOKEN}/matches")[2])["rules"]]
    assert offered == ["jga", "pagat", "nine"]
    for rules in offered:
        wanted = {"partner": "random", "next": "random", "previous": "random", "rules": rules}
        assert post(app, "match", wanted | {"mark": now(app)["mark"]})[0] == 200
        assert sitting.match.settings.rules.name == rules


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


def test_the_page_asks_whom_the_others_play_like_and_is_told_by_finished_rounds_alone():
    table = played()
    app = web.application(Sitting(table), TOKEN, "")

    def answer() -> list[str]:
        return json.loads(request(app, f"/{TOKEN}/likely")[2])["likely"]

    assert answer() == []
    table.next_round()
    end(table, any_move(1))
    known = answer()
    assert [one.partition(" plays like greedy (0.")[0] for one in known] == [
        "The player at your right",
        "Your partner",
        "The player at your left",
    ]
    table.next_round()
    for _ in range(2):
        list(table.advance())
        assert answer() == known
        table.decide(table.legal[0])
    assert (table.asks, answer()) == ("", known)
    end(table, any_move(1))
    assert answer() != known
