"""Asking agents: whose answers are checked, what a fault means, and what errors name."""

import copy
import re
import sys

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.asking import (
    ask_actions,
    ask_beliefs,
    ask_probabilities,
    at_temperature,
    attempt_actions,
    build_agent,
    check_agents,
    fault_lines,
    notify,
)
from goita_agents.base import AgentError, Policy, is_trusted, plays, read_probabilities
from goita_agents.models import PolicyModel
from goita_agents.registry import expand
from goita_env import JGA, NINE, PAGAT, get_rules
from goita_env.envs.seat_vector_env import SeatVectorEnv
from goita_env.errors import AnswerError
from goita_env.information import PLAIN
from goita_env.testing import find_inconsistency, fixed_views
from raising import refuses
from samples import slow

POLICIES = ("random", "greedy", "heuristic", "heuristic:conventions=off", "people", "crowd")
NETWORKS = ("champion", "champion:temperature=1", "population:offbelief-0")
WRAPPED = ("plain:base=greedy", "muted:base=heuristic", "masked:base=champion,hide=own_score")
RULE_SETS = ("jga", "pagat", "nine", "mini_3", "mini_4", "mini_5")


class Uniform:
    """Plays any legal action, all equally likely; the tests plant a fault in it."""

    name = "uniform"

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)

    def probabilities(self, view, legal):
        return legal / legal.sum(axis=1, keepdims=True)


def planted(**methods):
    """Returns a ``Uniform`` with other methods."""
    return type("Planted", (Uniform,), methods)()


def leaves(*arguments):
    sys.exit(0)


def views(rules="jga", rows=slice(100, 140)):
    view, legal = fixed_views(get_rules(rules))
    return view[rows], legal[rows]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_probabilities_of_our_agents_are_distributions_in_every_rule_set(rules):
    view, legal = fixed_views(get_rules(rules))
    for spec in (*POLICIES, *NETWORKS, *WRAPPED):
        agent = load_agent(spec)
        assert is_trusted(agent)
        read_probabilities(agent.probabilities(view, legal), legal, f" from {spec}")


@pytest.mark.parametrize("rules", [JGA, *map(slow, (NINE, PAGAT)), get_rules("mini_3")])
def test_the_answers_of_our_agents_depend_on_the_view_alone(rules):
    for spec in (*POLICIES, *NETWORKS, *WRAPPED):
        assert find_inconsistency(load_agent(spec), rules) is None, spec


def test_every_member_of_the_population_answers_with_distributions():
    view, legal = views(rows=slice(0, 256, 8))
    members = expand(f"population:{split}" for split in ("train", "validation", "test"))
    assert len(members) > 60
    for spec in members:
        agent = load_agent(spec)
        if plays(agent, PLAIN):  # some play only with messages
            read_probabilities(agent.probabilities(view, legal), legal, f" from {spec}")


def test_who_is_trusted_is_of_this_distribution():
    for spec in ("greedy", "champion:search=on,worlds=2", "plain:base=heuristic", "solver"):
        agent = load_agent(spec)
        assert is_trusted(agent)
        assert is_trusted(copy.deepcopy(agent))
    own = "hosted_bots:DrawsOne"
    for spec in (
        own,
        f"plain:base={own}",
        f"rollout:base={own},weight=uniform",
        "exec:true",
        Uniform,
        Uniform(),
    ):
        assert not is_trusted(load_agent(spec))
    champion = load_agent("champion")
    assert is_trusted(champion.at(1.0))
    derived = object.__new__(type("Derived", (type(champion),), {}))
    derived.__dict__ |= vars(champion)
    assert not is_trusted(derived)


def test_no_agent_is_trusted_because_it_says_so(monkeypatch):
    class Claims(Uniform):
        __module__ = "goita_agents.bots.greedy"
        trusted_class = property(type)

    assert not is_trusted(Claims())
    monkeypatch.setattr(sys.modules[__name__], "ours", lambda: load_agent("greedy"), raising=False)
    assert not is_trusted(load_agent(f"{__name__}:ours"))


def wrong_probabilities():
    """Yields what is wrong with an answer, and how the error says it."""

    def change(value, *, legal_action):
        def probabilities(self, view, legal):
            chances = Uniform.probabilities(self, view, legal)
            place = legal[7].argmax() if legal_action else (~legal[7]).argmax()
            chances[7, place] += value
            return chances

        return probabilities

    yield change(0.1, legal_action=False), r"probability 0 for illegal actions .*, got 0\.1 for "
    yield change(-2, legal_action=True), "probabilities of at least 0 "
    yield change(1e-5, legal_action=True), r"probabilities that sum to 1 .*, got the sum 1\.00001"
    yield change(np.nan, legal_action=True), "finite probabilities .*, got NaN or infinity"
    yield change(np.inf, legal_action=False), "finite probabilities .*, got NaN or infinity"


@pytest.mark.parametrize(("probabilities", "words"), [*wrong_probabilities()])
def test_probabilities_that_are_none_name_agent_seat_and_position(probabilities, words):
    view, legal = views()
    place = r"at seat [0-3] \(the dealer is seat 0\) in the position: Rule set jga\."
    refuses(
        AgentError,
        f"expected {words}.*{place}",
        ask_probabilities,
        planted(probabilities=probabilities),
        view,
        legal,
    )


@pytest.mark.parametrize(
    "answer",
    [None, "nothing", 0.5, [[1], [1, 2]], np.zeros((40, 68)), np.zeros((40, 69), int), [{}] * 40],
    ids=["None", "a text", "a number", "ragged", "a column less", "integers", "objects"],
)
def test_what_is_no_array_of_probabilities_is_refused_by_its_shape(answer):
    view, legal = views()
    agent = planted(probabilities=lambda *_: answer)
    words = r"expected probabilities of shape \(40, 69\) from 'uniform', got "
    refuses(AgentError, words, ask_probabilities, agent, view, legal)
    # In 40 games some opponent sits before the learner and is asked at once.
    env = SeatVectorEnv(40, opponents=agent)
    refuses(AnswerError, r"expected probabilities of shape \(\d+, 69\)", env.reset, seed=0)


@pytest.mark.parametrize(
    "error", [ValueError("bad\x1b[31m \ud800"), SystemExit(0), GeneratorExit()]
)
@pytest.mark.parametrize("method", ["act", "probabilities", "beliefs", "begin"])
def test_whatever_an_agent_raises_is_an_error_on_one_line_that_names_it(method, error):
    view, legal = views()

    def fails(*arguments):
        raise error

    agent = planted(**{method: fails})
    with pytest.raises(AgentError) as caught:
        {
            "act": lambda: ask_actions(agent, view, legal, np.random.default_rng(0)),
            "probabilities": lambda: ask_probabilities(agent, view, legal),
            "beliefs": lambda: ask_beliefs(agent, view),
            "begin": lambda: notify(agent, "begin", view.game, view.game % 4, view),
        }[method]()
    text = str(caught.value)
    assert text.startswith(f"expected 'uniform' to answer {method}(), but it raised ")
    assert type(error).__name__ in text
    assert text.isprintable()
    assert "test_asking.py, line " in text


@pytest.mark.parametrize(
    ("beliefs", "words"),
    [
        (np.zeros((40, 3, 7)), r"got shape \(40, 3, 7\) of float64"),
        (np.full((40, 3, 8), 1 + 1j), r"got shape \(40, 3, 8\) of complex128"),
        (np.where(np.arange(960) == 500, np.nan, 0.5).reshape(40, 3, 8), "got nan at seat"),
        (np.full((40, 3, 8), 1.01), r"got 1\.01 at seat [0-3] .*Rule set jga"),
    ],
)
def test_beliefs_that_are_none_are_refused(beliefs, words):
    view, _ = views()
    agent = planted(beliefs=lambda *_: beliefs)
    refuses(AgentError, f"from beliefs.. of 'uniform', {words}", ask_beliefs, agent, view)


def test_an_agent_cannot_change_what_others_are_shown():
    def spoil(self, view, *arguments):
        view.words[:] = 0
        view.game[:] = 0
        for array in arguments[:1]:
            array[:] = False
        return np.zeros((len(view), 3, 8)) if not arguments else self.answer

    view, legal = views()
    words, games, mask = view.words.copy(), view.game.copy(), legal.copy()
    agent = planted(act=spoil, probabilities=spoil, beliefs=spoil)
    agent.answer = legal.argmax(axis=1)
    ask_actions(agent, view, legal, np.random.default_rng(0))
    attempt_actions(agent, view, legal, 0)
    agent.answer = legal / legal.sum(axis=1, keepdims=True)
    ask_probabilities(agent, view, legal)
    ask_beliefs(agent, view)
    assert (view.words == words).all()
    assert (view.game == games).all()
    assert (legal == mask).all()
    with pytest.raises(AgentError, match="cannot be a model"):
        PolicyModel(agent)  # its answers are those of other views
    assert find_inconsistency(load_agent("greedy")) is None  # the fixed views are as they were


def test_a_model_of_a_users_agent_is_checked_whenever_it_answers():
    class Later(Uniform):
        """Is honest until it is asked about many positions."""

        def probabilities(self, view, legal):
            return super().probabilities(view, legal) / (1 + (len(view) > 256))

    model = PolicyModel(Later())
    view, legal = views(rows=np.arange(300) % 256)
    refuses(
        AgentError, "sum to 1 from 'uniform', got the sum 0.5", model.probabilities, view, legal
    )


def test_an_illegal_action_stands_for_all_legal_ones():
    def act(self, view, legal, rng):
        chosen = legal.argmax(axis=1)
        chosen[[3, 30]] = (~legal[[3, 30]]).argmax(axis=1)
        return chosen

    view, legal = views()
    attempt = attempt_actions(planted(act=act), view, legal, 0)
    chances = attempt.policy(legal)
    read_probabilities(chances, legal, "")
    assert (chances[[3, 30]] == legal[[3, 30]] / legal[[3, 30]].sum(axis=1, keepdims=True)).all()
    others = np.delete(np.arange(40), [3, 30])
    assert (chances[others].argmax(axis=1) == legal[others].argmax(axis=1)).all()
    assert (chances[others].max(axis=1) == 1).all()
    assert [fault.kind for fault in attempt.faults] == ["illegal"] * 2
    (line,) = fault_lines("mine", attempt.faults)
    assert line.startswith("mine: 2 faults (illegal), for which any legal action stands; the last:")


def test_a_batch_that_fails_is_tried_position_by_position():
    view, legal = views()
    bad = view.words[[5, 6]]

    def act(self, view, legal, rng):
        if (view.words[:, None] == bad).all(axis=2).any():
            raise ValueError("not this one")
        return legal.argmax(axis=1)

    attempt = attempt_actions(planted(act=act), view, legal, 0)
    assert np.flatnonzero(~attempt.answered).tolist() == [5, 6]
    assert [fault.kind for fault in attempt.faults] == ["raised"] * 2
    assert "not this one" in attempt.faults[0].text


@pytest.mark.parametrize("act", [leaves, lambda *_: "nonsense"])
def test_an_agent_that_always_fails_forfeits(act):
    words = r"'uniform' to answer, but it forfeits after 10 faults, the last \((raised|nonsense)\)"
    refuses(AgentError, words, attempt_actions, planted(act=act), *views(), 0)


def test_every_answer_that_a_program_misses_stands_for_all_legal_actions(tmp_path):
    program = tmp_path / "sometimes"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        "        print(json.dumps({'type': 'hello', 'protocol': 1, 'name': 'it'}), flush=True)\n"
        "    if message['type'] == 'act':\n"
        "        action = message['legal'][0] if len(message['legal']) > 3 else 'call'\n"
        "        answer = {'type': 'act', 'game': message['game'], 'action': action}\n"
        "        print(json.dumps(answer), flush=True)\n"
    )
    program.chmod(0o755)
    view, legal = views(rows=slice(160, 180))
    agent = build_agent(f"exec:{program}", JGA)
    try:
        attempt = attempt_actions(agent, view, legal, 0)
    finally:
        agent.close()
    few = legal.sum(axis=1) <= 3
    assert 0 < few.sum() < 10
    assert (~attempt.answered == few).all()
    assert len(attempt.faults) == few.sum()
    assert (attempt.policy(legal)[few] == legal[few] / legal[few].sum(axis=1)[:, None]).all()


def test_a_program_that_does_not_start_says_what_to_do(tmp_path):
    plain, ends = tmp_path / "plain", tmp_path / "ends"
    plain.write_text("print(1)\n")
    ends.write_text("#!/bin/sh\nexit 3\n")
    for file in (plain, ends):
        file.chmod(0o755)
    hint = re.escape("add a first line such as #!/usr/bin/env python3")
    refuses(AgentError, f"does not start: .*; {hint}$", build_agent, f"exec:{plain}", JGA)
    refuses(AgentError, "the program ended with exit", build_agent, f"exec:{ends}", JGA)
    wrapped = f"plain:base=(exec:{ends})"
    refuses(AgentError, "the program ended with exit", check_agents, ["greedy", wrapped], JGA)


def test_an_error_for_a_player_tells_nothing_of_the_hand():
    view, legal = views(rows=slice(100, 101))
    illegal = planted(act=lambda self, view, legal, rng: (~legal).argmax(axis=1))
    tells = planted(act=lambda self, view, legal, rng: [].index(str(view.hand)))
    for agent, words in ((illegal, "got another one"), (tells, r"raised ValueError \(")):
        with pytest.raises(AgentError) as caught:
            ask_actions(agent, view, legal, np.random.default_rng(0), secret=True)
        assert re.search(words, str(caught.value))
        assert not re.search(r"[1-8]{2,}|\[", str(caught.value).partition(" (")[0])


@pytest.mark.parametrize("at", [leaves, lambda self, temperature: None])
def test_another_temperature_is_asked_for_in_the_same_way(at):
    agent = planted(at=at)
    agent.temperature = 1.0
    refuses(AgentError, r"expected 'uniform' to answer at\(\)", at_temperature, agent, 0.5)
    refuses(AgentError, r"expected 'uniform' to answer at\(\)", PolicyModel, agent, 0.5)


def test_code_that_runs_when_an_agent_is_looked_at_cannot_leave():
    looked_at = type("LookedAt", (Uniform,), {"faults": property(leaves)})
    refuses(AgentError, "expected to build .*, but it raised SystemExit", load_agent, looked_at)
    unnamed = type("Unnamed", (Uniform,), {"name": property(lambda _: None)})  # cannot be set
    refuses(AgentError, "expected to build .*, but it raised AttributeE", load_agent, unnamed)
    agent = planted(plays=leaves)
    refuses(AgentError, r"to answer plays\(\), but it raised", build_agent, agent, JGA)
    refuses(AgentError, r"to answer plays\(\), but it raised", PolicyModel, agent)


def test_an_agent_may_write_its_next_answer_into_the_same_array():
    view, legal = views()
    buffer = np.zeros(legal.shape)

    def probabilities(self, view, legal):
        buffer[: len(legal)] = legal / legal.sum(axis=1, keepdims=True)
        return buffer[: len(legal)]

    agent = planted(probabilities=probabilities)
    first = ask_probabilities(agent, view, legal)
    ask_probabilities(agent, view[::-1], legal[::-1])
    assert (first > 0).tolist() == legal.tolist()


def test_an_agent_without_probabilities_is_no_policy():
    assert not isinstance(load_agent("solver"), Policy)
