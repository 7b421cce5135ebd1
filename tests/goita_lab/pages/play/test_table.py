"""The match at the table, whatever it is shown on: moves, questions, take-back, saving."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from goita_agents.base import AgentError
from goita_agents.bots.greedy import GreedyAgent
from goita_agents.external.protocol import EventMessages
from goita_env import actions, errors, records
from goita_env.records import DealRecord
from goita_env.render import words
from goita_env.rules import get_rules
from goita_env.tiles import MATCH_POINTS
from goita_lab.commands.play import main
from goita_lab.pages.play import savegame, sentences
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.table import PlayTable
from play_tables import GREEDY, any_move, play_on
from programs import refusal
from raising import refuses
from record_samples import FIVE, LINE
from samples import slow

EMPTY = {"hands": FIVE, "dealer": 0, "scores": [0, 0], "moves": []}


def table(seed=0, agents=GREEDY, **options) -> PlayTable:
    return PlayTable(MatchSettings(agents, seed, **options))


def dealt(hands, dealer=0, rules="jga", agents=GREEDY) -> PlayTable:
    first = DealRecord(tuple(hands), dealer, rules=rules)
    return table(agents=agents, rules=first.rules, first=first)


def standing(one: PlayTable) -> tuple:
    state = (one.asks, [*one.log], [*one.results], one.may_take_back, one.legal)
    return repr(one.game), state


@pytest.mark.parametrize("rules", ["jga", slow("pagat"), slow("nine")])
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


def test_after_a_round_a_player_is_told_who_ended_it_and_sees_all_hands():
    *_, over = records.history.loads(LINE).deals[0].replay()  # seat 2 ends it with a silver
    for viewer, who in enumerate(("Partner ends", "Right ends", "you end", "Left ends")):
        scene = sentences.ended_scene(over, viewer, (30, 0))
        assert words.title(scene) == f"Goita: {who} the round: 30 points"
        assert scene.scores == (("you and partner", 30), ("opponents", 0))
        assert [place.name for place in scene.places] == ["you", "Right", "Partner", "Left"]
        for seat, place in enumerate(scene.places, start=viewer):
            assert place.hand == tuple(np.arange(8).repeat(over.hands[seat % 4]).tolist())


def test_what_is_impossible_changes_nothing():
    one = table(0)
    list(one.advance())
    before = standing(one)
    illegal = next(a for a in range(actions.NUM_ACTIONS) if a not in one.legal)
    for call, error in (
        (lambda: one.decide(illegal), errors.IllegalActionError),
        (lambda: one.decide(99), errors.ActionError),
        (one.next_round, errors.EpisodeOverError),
        (one.take_back, errors.EpisodeOverError),
    ):
        with pytest.raises(error):
            call()
    assert standing(one) == before


class Listening(GreedyAgent):
    """Notes all that it is told."""

    def __init__(self):
        super().__init__()
        self.heard, self.numbers = [], set()

    def begin(self, games, seats, view):
        self.heard.append(("begin", int(seats[0]), int(view.num_plays[0])))
        self.numbers.add(int(games[0]))

    def redeal(self, games, view):
        events = EventMessages(view).since(0, 2, int(games[0]), 0)
        self.heard.append([(event["seat"], event["event"]) for event in events])

    def end(self, games, results, hands):
        self.heard.append(("end", int(results.winner[0]), hands.shape))


def test_an_agent_with_a_memory_is_told_of_every_deal_redeal_and_end():
    bot, other = Listening(), Listening()
    one = table(1, ("", "greedy", bot, "greedy"))
    list(play_on(one, any_move(0), rounds=3))
    told = [each for each in bot.heard if each[0] == "begin"]
    assert told == [("begin", 2, 0)] * len(one.game.deals)
    assert [number % 4 for number in bot.numbers] == [2]  # the match has one number
    ends = [each for each in bot.heard if each[0] == "end"]
    assert ends == [("end", winner, (1, 4, 8)) for winner, _ in one.results]
    one = dealt(FIVE, agents=("", "greedy", other, "greedy"))
    list(one.advance())
    one.decide(actions.CALL)
    list(one.advance())
    begun = ("begin", 2, 0)
    assert other.heard == [begun, [(0, "call"), (2, "redeal")], begun]


class Counting(GreedyAgent):
    """Plays by all that it was ever told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def begin(self, games, seats, view):
        self.told.append(("begin", int(games[0]), view.words.tobytes()))

    def end(self, games, results, hands):
        self.told.append(("end", int(games[0]), hands.tobytes(), int(results.winner[0])))

    def act(self, view, legal, rng):
        legal = np.flatnonzero(legal[0])
        luck = int(rng.integers(1_000_000))
        told = sum(zlib.crc32(repr(one).encode()) for one in self.told)
        return legal[[(luck + told) % len(legal)]]


OWN = f"{__name__}:Counting"


@pytest.mark.parametrize("agent", [OWN, "random"])
def test_a_match_goes_on_alike_from_its_file_and_after_taking_back(agent, tmp_path):
    file = tmp_path / "match.json"
    one = savegame.begin(MatchSettings(("", agent, "greedy", agent), 9), file)
    choose, compared = any_move(4), 0
    while len(one.results) < 2:
        list(one.advance())
        if one.asks == "round":
            one.next_round()
            continue
        resumed, before = savegame.resume(file, opponents=[agent]), standing(one)
        action = choose(one)
        for new, old in zip(resumed.others, one.others, strict=True):
            assert getattr(new, "told", ()) == getattr(old, "told", ())
        for each in (one, resumed):
            if each.asks == "round":  # that it had been gone on with was not in the file
                each.next_round()
            each.decide(action)
            list(each.advance())
        assert standing(resumed) == standing(one)
        after = standing(one)
        one.take_back()
        assert standing(one) == before
        one.decide(action)
        list(one.advance())
        assert standing(one) == after
        compared += 1
    assert compared > 5


class Raising(GreedyAgent):
    """Raises where it is told to, with a text that tells its hand."""

    def __init__(self, where, error):
        super().__init__()
        self.where, self.error = where, error

    def _at(self, where):
        if where == self.where:
            raise self.error("11223344")

    def begin(self, games, seats, view):
        self._at("begin")

    def end(self, games, results, hands):
        self._at("end")

    def act(self, view, legal, rng):
        self._at("act")
        return super().act(view, legal, rng)


@pytest.mark.parametrize(
    ("where", "error"), [("begin", SystemExit), ("act", ZeroDivisionError), ("end", SystemExit)]
)
def test_what_an_agents_code_raises_names_the_agent_and_tells_no_hand(where, error):
    with pytest.raises(AgentError) as caught:
        list(play_on(table(1, ("", Raising(where, error), "greedy", "greedy")), any_move(0)))
    line = Raising._at.__code__.co_firstlineno + 2
    assert str(caught.value) == (
        f"expected 'greedy' to answer {where}(), but it raised {error.__name__} "
        f"(test_table.py, line {line})"
    )


ILLEGAL = "expected a legal action from 'greedy', got another one"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "expected 1 actions as whole numbers from 'greedy', got shape .. of object"),
        ([0.0], "float64"),
        *(([action], f"^{ILLEGAL}$") for action in (99, actions.REDEAL)),
    ],
)
def test_a_wrong_answer_is_told_without_the_hand(answer, message):
    class Wrong(GreedyAgent):
        def act(self, view, legal, rng):
            return answer

    with pytest.raises(AgentError, match=message):
        list(play_on(table(1, ("", Wrong(), Wrong(), Wrong())), any_move(0)))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The file of a match of two rounds."""
    path = tmp_path_factory.mktemp("match") / "match.json"
    list(play_on(savegame.begin(MatchSettings(GREEDY, 4), path), any_move(0), rounds=2))
    return path.read_text(encoding="utf-8")


@pytest.fixture
def file(tmp_path, text):
    """The same, to be written to."""
    path = tmp_path / "match.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: "[]", "goita-record-1"),
        (lambda told: "{", "expected JSON"),
        (lambda told: {**told, "table": None}, "expected a match of goita_lab.pages.play"),
        (lambda told: {**told, "table": {**told["table"], "seed": "1"}}, "Expected `int`"),
        (lambda told: {**told, "table": {**told["table"], "seed": 5}}, "match.json: expected"),
        (lambda told: {**told, "deals": []}, "expected a deal"),
        (lambda told: {**told, "deals": [*told["deals"][:-1], EMPTY]}, "of this seed"),
    ],
)
def test_a_file_that_is_no_match_is_refused(file, change, message):
    told = change(json.loads(file.read_text()))
    file.write_text(told if isinstance(told, str) else json.dumps(told))
    refuses(errors.GoitaError, message, savegame.resume, file)


# Run by load_agent, each of these would leave a file.
FOREIGN = [
    "x=exec:[shell=on]id > PWNED; cat",
    "os:system:command=id > PWNED",
    "file:PWNED",
    "rollout:base=(rollout:base=(os:system:command=id > PWNED))",
]


@pytest.mark.parametrize("spec", FOREIGN)
@pytest.mark.parametrize("seat", [1, 2])
def test_a_file_starts_no_code_unless_it_is_named_again(
    file, spec, seat, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    told = json.loads(file.read_text())
    told["table"]["agents"][seat] = spec
    file.write_text(json.dumps(told))
    complaint = refusal(capsys, main, ["--resume", str(file)])
    assert complaint.count("\n") == 1
    assert f"in match.json (--{'partner' if seat == 2 else 'opponents'})" in complaint
    assert "give the agent on the command line" in complaint
    assert not (tmp_path / "PWNED").exists()


def test_a_file_of_any_size_and_depth_is_refused_in_a_line(tmp_path):
    file, deep = tmp_path / "m.json", "[" * 10**6
    nested = '{"format": "goita-record-1", "rules": "jga", "table": '
    for text in (
        deep,
        nested + deep,
        f'{{"x": {deep + deep.replace("[", "]")}, {nested[1:]} 1}}',
        " " * (savegame.MAX_SAVEGAME_BYTES + 1),
        f'{{"table": {{"agents": ["", "greedy", "greedy", "greedy"], "seed": {"9" * 5000}}}}}',
    ):
        file.write_text(text)
        with pytest.raises(errors.GoitaError) as caught:
            savegame.resume(file)
        assert len(str(caught.value)) < 300
    refuses(errors.GoitaError, "a regular file", savegame.resume, Path("/dev/zero"))
