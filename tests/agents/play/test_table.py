"""The match at the table, whatever it is shown on: moves, questions, take-back, saving."""

import json
from dataclasses import replace

import numpy as np
import pytest
from deals import RULE_SETS
from play_tables import any_move, play_on
from record_samples import FIVE, SIX

from agents import watch
from agents.base import AgentError
from agents.bots.greedy import GreedyAgent
from agents.play import saved
from agents.play.table import Setting, Table
from agents.watch.reading import read
from goita_env import actions, errors
from goita_env.records import DealRecord
from goita_env.rules import get_rules
from goita_env.tiles import MATCH_POINTS

GREEDY = ("", "greedy", "greedy", "greedy")


EMPTY = {"hands": FIVE, "dealer": 0, "scores": [0, 0], "moves": []}


def table(seed=0, agents=GREEDY, **options) -> Table:
    return Table(Setting(agents, seed, **options))


def dealt(hands, dealer=0, rules="jga", agents=GREEDY) -> Table:
    first = DealRecord(tuple(hands), dealer, rules=rules)
    return table(agents=agents, rules=first.rules, first=first)


def standing(one: Table) -> tuple:
    """All that is to be known of a table."""
    state = (one.asks, [*one.log], [*one.results], one.may_take_back, one.taken_back, one.legal)
    return repr(one.game), state


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_match_goes_to_150_and_its_record_says_the_same(rules):
    one = table(3, rules=get_rules(rules))
    told = list(play_on(one, any_move(0)))

    assert one.asks == "match"
    assert max(one.scores) >= MATCH_POINTS > min(one.scores)
    results = [result for result in one.record.results() if result.winner is not None]
    assert [(result.winner, result.points) for result in results] == one.results
    assert results[-1].scores == one.game.scores
    assert sum("ends the round" in said or "you end" in said for said in told) == len(results)
    assert one.record.players == ("you", "greedy", "greedy", "greedy")


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_match_goes_on_from_its_file_at_any_moment_as_if_never_left(rules, tmp_path):
    file = tmp_path / "match.json"
    setting = Setting(("random", "greedy", "", "random"), 5, get_rules(rules), "Ann")
    one = saved.begin(setting, file)
    for number, _ in enumerate(play_on(one, any_move(1), rounds=3)):
        if number % 7 == 0:
            assert standing(saved.resume(file)) == standing(one)
    other = saved.resume(file)
    for each in (one, other):
        list(play_on(each, any_move(2), rounds=4))
    assert standing(one) == standing(other)
    assert other.record.players == ("random", "greedy", "Ann", "random")


def test_taking_back_leads_to_the_last_decision_and_the_same_move_leads_on_alike():
    one, choose, compared = table(2, ("", "random", "random", "random")), any_move(3), 0
    while len(one.results) < 3:
        list(one.advance())
        if one.asks == "round":
            one.go_on()
            continue
        before, action = standing(one), choose(one)
        one.decide(action)
        list(one.advance())
        after = standing(one)
        one.take_back()
        one.taken_back -= 1
        assert standing(one) == before
        one.decide(action)
        list(one.advance())
        assert standing(one) == after
        compared += 1
    assert compared > 5


def test_nothing_is_taken_back_before_the_first_decision():
    one = table(0)
    list(one.advance())
    assert one.asks == "move"
    with pytest.raises(errors.EpisodeOverError):
        one.take_back()


def test_what_is_impossible_changes_nothing():
    one = table(0)
    list(one.advance())
    before = standing(one)
    illegal = next(a for a in range(actions.NUM_ACTIONS) if a not in one.legal)
    for call in (lambda: one.decide(illegal), lambda: one.decide(99), one.go_on):
        with pytest.raises(errors.GoitaError):
            call()
    assert standing(one) == before


# ---------------------------------------------------------------------------- questions before play


def test_a_person_with_five_pawns_is_asked_and_the_partner_chooses():
    one = dealt(FIVE)
    assert list(one.advance()) == []
    assert one.legal == [actions.CALL, actions.SILENT]
    assert one.decide(actions.CALL) == "you call five pawns"
    said = next(one.advance())
    assert said.startswith("partner chooses to ")


def test_where_calling_is_a_duty_it_is_done_unasked():
    one = dealt(FIVE, rules="pagat")
    assert next(one.advance()) == "you call five pawns"


def test_nobody_is_told_that_another_seat_kept_silent():
    class Silent(GreedyAgent):
        def act(self, view, legal, rng):
            return np.array(
                [actions.SILENT if view.asked_call[0] else super().act(view, legal, rng)[0]]
            )

    one = dealt(FIVE, dealer=3, agents=(Silent(), "greedy", "greedy", ""))
    said = [*one.advance()]
    assert (0, actions.SILENT) in one.game.moves
    assert not any("silent" in each for each in said)
    assert one.asks == "move"


def test_six_pawns_end_the_round_and_show_the_hand():
    one = dealt(SIX, dealer=0)
    list(one.advance())
    said = one.decide(actions.CALL)
    assert said == "you call six pawns; you end the round: 50 points"
    assert one.asks == "round"
    assert one.ended().winner == 0
    one.go_on()
    assert one.log == []
    assert next(iter(play_on(one, any_move(0), rounds=2)))


# ----------------------------------------------------------------------------------------- agents


def test_agents_see_their_own_view_and_nothing_else():
    seen = []

    class Looking(GreedyAgent):
        def act(self, view, legal, rng):
            seen.append((view, legal, len(one.game.moves)))
            seat, mine = one.game.seat, one.game.view(one.game.seat)
            assert (view.words == mine.words).all()
            assert legal[0].nonzero()[0].tolist() == one.legal
            assert len(view) == 1
            assert seat != one.seat
            return super().act(view, legal, rng)

    one = table(1, ("", Looking(), "greedy", "greedy"))
    list(play_on(one, any_move(0), rounds=2))
    assert len(seen) > 3


def test_an_agent_with_a_memory_is_told_of_every_deal_and_end():
    heard = []

    class Remembering(GreedyAgent):
        def begin(self, games, seats, view):
            heard.append(("begin", int(games[0]), int(seats[0]), int(view.num_plays[0])))

        def end(self, games, results, hands):
            heard.append(("end", int(games[0]), int(results.winner[0]), hands.shape))

    one = table(1, ("", "greedy", Remembering(), "greedy"))
    list(play_on(one, any_move(0), rounds=3))
    begun = [each for each in heard if each[0] == "begin"]
    assert len(begun) == len(one.game.deals)
    assert all(seat == 2 and plays == 0 and game % 4 == 2 for _, game, seat, plays in begun)
    assert len({game for _, game, _, _ in begun}) == len(begun)
    ends = [each[2:] for each in heard if each[0] == "end"]
    assert ends == [(winner, (1, 4, 8)) for winner, _ in one.results]


def test_an_agent_that_answers_what_is_illegal_is_named_and_its_hand_is_not():
    class Wrong(GreedyAgent):
        def act(self, view, legal, rng):
            return np.array([actions.REDEAL])

    one = table(1, ("", Wrong(), Wrong(), Wrong()))
    with pytest.raises(AgentError) as caught:
        list(play_on(one, any_move(0)))
    assert str(caught.value) == "expected a legal action from 'greedy', got another one"


@pytest.mark.parametrize("agents", [GREEDY[1:], ("greedy",) * 4, ("", "", "greedy", "greedy")])
def test_a_table_seats_one_person_and_three_agents(agents):
    with pytest.raises(errors.SettingError, match="three agents and one person"):
        Setting(agents, 0)


# ------------------------------------------------------------------------------------------- files


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The file of a match of two rounds."""
    path = tmp_path_factory.mktemp("match") / "match.json"
    list(play_on(saved.begin(Setting(GREEDY, 4), path), any_move(0), rounds=2))
    return path.read_text(encoding="utf-8")


@pytest.fixture
def file(tmp_path, text):
    """The same, to be written to."""
    path = tmp_path / "match.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_saved_match_opens_as_a_replay_page(file):
    source = read(str(file))
    assert len(source.deals) == len(saved.resume(file).record.deals)
    assert source.deals[0].players == ("you", "greedy", "greedy", "greedy")
    assert source.problems == ()
    assert "ends the round" in watch.page(source)


def test_a_new_match_takes_no_file_that_is_there(file):
    before = file.read_bytes()
    with pytest.raises(errors.SettingError, match="--resume"):
        saved.begin(Setting(GREEDY, 4), file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: "[]", "goita-record-1"),
        (lambda told: "{", "expected JSON"),
        (lambda told: {**told, "table": None}, "expected a match of agents.play"),
        (lambda told: {**told, "table": {"agents": ["greedy"] * 4}}, "expected a match"),
        (lambda told: {**told, "table": {**told["table"], "seed": "1"}}, "two numbers"),
        (lambda told: {**told, "table": {**told["table"], "seed": 5}}, "match.json: expected"),
        (lambda told: {**told, "deals": []}, "expected a deal"),
        (lambda told: {**told, "deals": told["deals"][:1] * 2}, "match.json: expected"),
        (lambda told: {**told, "deals": [*told["deals"][:-1], EMPTY]}, "of this seed"),
    ],
)
def test_a_file_that_is_no_match_is_refused(file, change, message):
    told = change(json.loads(file.read_text()))
    file.write_text(told if isinstance(told, str) else json.dumps(told))
    with pytest.raises(errors.GoitaError, match=message):
        saved.resume(file)


def test_a_table_of_given_first_deal_goes_on_with_the_deals_of_its_seed():
    one = dealt(FIVE)
    other = Table(replace(one.setting, first=None))
    for each in (one, other):
        list(play_on(each, any_move(0), rounds=1))
    assert one.record.deals[0].hands != other.record.deals[0].hands
