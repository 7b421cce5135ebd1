"""The exact benchmark of unknown partners: its floor, its entries, and messages in the tree."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from goita_agents.base import AgentError, sample
from goita_env import JGA, GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.rules import RULE_SETS
from goita_lab.arena.coordination import leaderboard
from goita_lab.commands.coordination import main
from goita_lab.exact import agent as files
from goita_lab.exact import teamwork
from goita_lab.exact.teamwork import (
    Benchmark,
    Players,
    bayes_optimal,
    points_with,
    policy_of,
    seated,
    strength,
)
from goita_lab.exact.tree import Channel, Tree, enumerate_game
from goita_lab.exact.values import Learner, best_response, gains, sign, value
from programs import ROOT
from raising import refuses
from samples import slow

SEATS = 4


def any_policy(tree, seed):
    weights = np.random.default_rng(seed).exponential(size=len(tree.action)) ** 2
    return weights / np.add.reduceat(weights, tree.starts[:-1])[tree.owner]


def toy():
    """Returns a tree of 4,088 histories in which every seat acts twice and has 1,024 plans.

    A seat knows one bit of the deal, and at its second turn its first action and that of the seat
    before it.
    """
    rng, deals, depth = np.random.default_rng(4), 8, 2 * SEATS
    info, first, words, seats, levels = [], [], [], [], [0]
    for level in range(depth + 1):
        here = [(deal, *moves) for deal in range(deals) for moves in product((0, 1), repeat=level)]
        start = levels[-1]
        levels.append(start + len(here))
        seat, base = level % SEATS, len(seats)
        wide = 2 if level < SEATS else 8
        for number, (deal, *moves) in enumerate(here):
            if level == depth:
                info.append(-1)
                first.append(0)
                continue
            known = [deal >> (seat % 3) & 1]
            known += [moves[level - SEATS], moves[level - 1]] if level >= SEATS else []
            info.append(base + int("".join(map(str, known)), 2))
            first.append(levels[-1] + 2 * number)
        if level < depth:
            seats += [seat] * wide
    many = len(info)
    return Tree(
        JGA,
        ("own", "own"),
        np.full(deals, 1 / deals),
        info=np.array(info, np.int32),
        first=np.array(first, np.int32),
        points=np.where(np.array(info) < 0, rng.integers(-50, 51, many), 0).astype(np.int16),
        starts=np.arange(0, 2 * len(seats) + 1, 2),
        action=np.tile(np.arange(2), len(seats)).astype(np.int8),
        seat=np.array(seats, np.int8),
        before=np.full(len(seats), -1, np.int32),
        words=np.zeros((len(seats), 8), np.uint64),
        levels=np.array(levels),
        sets=np.array(words),
    )


def test_strength_is_the_mean_of_both_sides(tiny):
    agent, others = any_policy(tiny, 1), [any_policy(tiny, 2)]
    assert value(tiny, agent) != 0  # the deal favours a side
    assert strength(tiny, agent, np.array([agent])) == pytest.approx(0, abs=1e-12)
    # By hand: the agent in seats 0 and 2, then in 1 and 3, whose points are those of the others.
    dealers = tiny.seat[tiny.owner] % 2 == 0
    first = value(tiny, np.where(dealers, agent, others[0]))
    second = -value(tiny, np.where(dealers, others[0], agent))
    assert strength(tiny, agent, np.array(others)) == pytest.approx((first + second) / 2)


def test_no_plan_of_all_that_there_are_beats_the_bayes_optimal_player():
    tree = toy()
    kinds = [(any_policy(tree, n), any_policy(tree, 9 + n)) for n in range(3)]
    assert len(tree.info) == 4_088
    known = [bayes_optimal(tree, [kind])[0] for kind in kinds]
    unknown, policy = bayes_optimal(tree, kinds)
    # By seat: each of its 1,024 plans with each type.
    found = np.zeros((SEATS, 1024, len(kinds)))
    for seat in range(SEATS):
        own = np.flatnonzero(tree.seat == seat)
        for number, plan in enumerate(product((0, 1), repeat=len(own))):
            agent = tree.uniform()
            agent[tree.starts[own]], agent[tree.starts[own] + 1] = 1 - np.array(plan), plan
            for column, kind in enumerate(kinds):
                table = seated(tree, seat, agent, kind)
                found[seat, number, column] = sign(seat) * value(tree, table)
    assert known == pytest.approx(found.max(axis=1).mean(axis=0))
    assert unknown == pytest.approx(found.mean(axis=2).max(axis=1).mean())
    mean = np.mean([points_with(tree, policy, kind) for kind in kinds])
    assert mean == pytest.approx(unknown)
    assert unknown < np.mean(known)


@pytest.fixture(scope="module")
def players(tiny):
    return drawn_players(tiny)


def drawn_players(tree):
    """Returns a few players of a game, whose listeners play at random."""
    rng = np.random.default_rng(0)
    place = (rng.random((4, 2, len(tree.seat))) * np.diff(tree.starts)).astype(np.uint8)
    policies = np.array([any_policy(tree, seed) for seed in range(6)])
    splits = ("train", "train", "test", "test")
    drawn = Players(tuple("abcd"), splits, policies[2:], policies[:2], place, np.zeros((4, 4)))
    return with_best(tree, drawn)


def with_best(tree, players):
    """Returns players with what the best responses to them make."""
    best = [
        [bayes_optimal(tree, [kind])[0] for kind in players.types(tree, one)] for one in range(4)
    ]
    return replace(players, best=np.array(best))


def test_regret_is_zero_for_the_best_response_and_never_below(tiny, players):
    met = Benchmark(tiny, players, "test")
    assert players.names_of("test") == ("c", "d")
    for number, partner in enumerate(players.of("test")):
        for column, kind in enumerate(players.types(tiny, partner)):
            _, policy = bayes_optimal(tiny, [kind])
            regret = met.scores(policy)["test"].regret
            assert abs(regret[number, column]) < 1e-9
            assert regret.min() > -1e-9
    for seed in range(3):
        assert met.scores(any_policy(tiny, seed))["test"].regret.min() > 0


def test_no_agent_leaves_less_than_nothing_on_average(tiny, players):
    met = Benchmark(tiny, players, "test")
    best, train = (met.scores(met.bayes[split]) for split in ("test", "train"))
    assert best["test"].avoidable_regret == pytest.approx(0, abs=1e-9)
    assert train["train"].avoidable_regret == pytest.approx(0, abs=1e-9)
    assert train["test"].avoidable_regret > 0.1
    assert 0.1 < met.price["test"] < met.scores(tiny.uniform())["test"].regret.mean()


def test_players_are_stored_in_half_precision_and_add_up_to_one(tiny, players, tmp_path):
    players.save(tiny, tmp_path / "tiny.npz")
    found = Players.load(tiny, tmp_path / "tiny.npz")
    assert (found.names, found.splits) == (players.names, players.splits)
    assert np.abs(found.policies - players.policies).max() < 1e-3
    sums = np.add.reduceat(found.policies, tiny.starts[:-1], axis=1)
    assert np.abs(sums - 1).max() < 1e-12
    assert (found.listeners == players.listeners).all()
    other = enumerate_game(replace(tiny.rules, name="other"))
    refuses(SettingError, "expected a game with partners", Players.load, other)
    refuses(SettingError, "of goita-partners-1", Players.load, other, tmp_path / "tiny.npz")


def test_points_are_those_of_rounds_that_are_played(tiny, players, tmp_path, played):
    agent, (partner, opponents) = any_policy(tiny, 7), players.types(tiny, 0)[0]
    expected = points_with(tiny, agent, (partner, opponents))
    mean, error = played(tiny, [agent, opponents, partner, opponents], rounds=20_000)
    assert abs(mean - expected) < 4 * error


@pytest.mark.parametrize("rounds", [slow(200_000)])
def test_points_of_a_shipped_partner_are_those_of_many_rounds(tree, played, rounds):
    players = Players.load(tree)
    number = players.of("test")[0]
    partner, listeners = players.types(tree, number)[2]
    agent, _ = policy_of(tree, "heuristic")
    expected = points_with(tree, agent, (partner, listeners))
    mean, error = played(tree, [agent, listeners, partner, listeners], rounds=rounds)
    assert abs(mean - expected) < 2 * 1.96 * error


@pytest.fixture
def played(tmp_path):
    """Returns a function that plays policies at four seats, in rotation, in the environment."""

    def play(tree, policies, rounds):
        agents = []
        for number, policy in enumerate(policies):
            path = tmp_path / f"{number}.npz"
            found = {"digests": tree.view().digest(), "starts": tree.starts}
            found |= {"action": tree.action, "average": policy}
            files.write(path, files.FORMAT, tree, found)
            agents.append(files.SolvedAgent(str(path)))
        env = GoitaVectorEnv(4_000, tree.rules, seed=1, observe=False)
        turn, gained, rng = env.reset(), [], np.random.default_rng(2)
        while len(gained) < rounds:
            chosen = np.zeros(len(turn.seat), np.int64)
            for seat, agent in enumerate(agents):
                some = np.flatnonzero(turn.seat == seat)
                known = agent.probabilities(turn.view[some], turn.action_mask[some])
                chosen[some] = sample(known, rng)
            turn = env.step(chosen)
            points = turn.points * (1 - 2 * (turn.winner % 2))
            gained += points[turn.done].tolist()
        return np.mean(gained), np.std(gained) / np.sqrt(len(gained))

    return play


def test_an_agent_is_asked_once_at_every_information_set(tiny):
    assert policy_of(tiny, "random")[0] == pytest.approx(tiny.uniform())
    greedy, _ = policy_of(tiny, "greedy")
    assert (np.add.reduceat(greedy, tiny.starts[:-1]) == 1).all()
    program, faults = policy_of(tiny, "exec:python examples/bot_python.py")
    assert set(np.unique(program)) == {0, 1}
    assert faults == ()
    refuses(AgentError, "without a memory", policy_of, tiny, "champion:search=on")


class Acts:
    """Takes the first legal action, and has no probabilities; an illegal one where it leads."""

    name = "acts"

    def act(self, view, legal, rng):
        return np.where(view.leads & (view.num_plays > 0), 68, legal.argmax(axis=1))


def test_an_illegal_action_is_a_random_one_and_is_counted(tiny):
    policy, faults = policy_of(tiny, Acts())
    view = tiny.view()
    wrong = view.leads & (view.num_plays > 0)
    assert len(faults) == wrong.sum() > 0
    at_fault = wrong[tiny.owner]
    assert policy[at_fault] == pytest.approx(tiny.uniform()[at_fault])
    assert set(policy[~at_fault]) == {0, 1}


def test_an_agent_that_only_acts_sends_each_message_with_the_same_probability(tiny):
    spoken = enumerate_game(tiny.rules, channel=Channel())
    policy, _ = policy_of(spoken, Acts())
    silent, _ = policy_of(tiny, Acts())
    sends = spoken.owner < spoken.sets[1]
    assert (policy[sends] == 0.5).all()
    # Whoever does not observe the message plays as if there were none.
    assert value(spoken, policy) == pytest.approx(value(tiny, silent))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda chances, legal: (~legal) / (~legal).sum(axis=1, keepdims=True),
            "probability 0 for",
        ),
        (lambda chances, legal: chances / 2, "sum to 1 .* got the sum 0.5"),
        (lambda chances, legal: chances * np.nan, "finite probabilities"),
        (lambda chances, legal: 0 * chances, "sum to 1 .* got the sum 0"),
    ],
)
def test_probabilities_that_are_none_give_no_figures(tiny, change, words):
    class Wrong(Acts):
        def probabilities(self, view, legal):
            return change(legal / legal.sum(axis=1, keepdims=True), legal)

    refuses(AgentError, f"{words}.* at seat [0-3] .*Rule set tiny", policy_of, tiny, Wrong())
    refuses(AgentError, words, tiny.policy_of, [Wrong()] * SEATS)


def test_what_no_policy_can_make_is_an_error_and_no_figure(tiny, players):
    benchmark = Benchmark(tiny, players, "train")
    assert benchmark.scores(tiny.uniform())["train"].avoidable_regret > 0
    for wrong in (0 * tiny.uniform(), 1.3 * tiny.uniform(), np.nan * tiny.uniform()):
        refuses(SettingError, "sum to 1 at every information set", benchmark.scores, wrong)
        refuses(SettingError, "sum to 1 at every information set", gains, tiny, wrong)
    refuses(SettingError, "of shape", gains, tiny, tiny.uniform()[1:])
    # A stored best response that makes too little would rank agents below the price.
    low = replace(players, best=players.best - 3)
    refuses(
        ArithmeticError,
        "a regret of at least 0",
        Benchmark(tiny, low, "train").scores,
        benchmark.bayes["train"],
    )


@pytest.fixture
def shipped_game(tiny, players, tmp_path, monkeypatch):
    """Returns a rule set in a file, whose players stand where those of a release do."""
    monkeypatch.setattr(teamwork, "FOLDER", tmp_path)
    ship(tiny, players, tmp_path / "tiny.npz")
    (tmp_path / "tiny.json").write_text(json.dumps({"name": "tiny", "deck": tiny.rules.deck}))
    return str(tmp_path / "tiny.json")


def ship(tree, players, path):
    """Writes players as a release does: best responses are to what is stored of them."""
    replace(players, splits=("train", "train", "validation", "validation")).save(tree, path)
    with_best(tree, Players.load(tree)).save(tree, path)


def test_the_command_measures_in_the_game_with_a_message(tiny, shipped_game, tmp_path, capsys):
    tree = enumerate_game(tiny.rules, channel=Channel())
    ship(tree, drawn_players(tree), tmp_path / "tiny-message.npz")
    file = tmp_path / "found.json"
    assert main(["greedy", "--rules", shipped_game, "--message", "--json", str(file)]) == 0
    assert capsys.readouterr().out.startswith("tiny-message: points a round")
    found = json.loads(file.read_text())
    row = next(row for row in found["agents"] if row["agent"] == "greedy")
    benchmark = Benchmark(tree, Players.load(tree), "validation")
    score = benchmark.scores(policy_of(tree, "greedy")[0])["validation"]
    assert np.array(row["points"]) == pytest.approx(score.points)


def test_the_command_measures_and_enters_and_checks(
    shipped_game, tiny, tmp_path, capsys, monkeypatch
):
    board, told = str(tmp_path / "board.json"), tmp_path / "told.json"
    agents = ["greedy", "c", "mine=heuristic"]
    assert main([*agents, "--rules", shipped_game, "--enter", board, "--json", str(told)]) == 0
    shown = capsys.readouterr().out
    assert "price of not knowing" in shown
    assert "(uniform play)" in shown
    rows = {row["name"]: row for row in json.loads(told.read_text())["agents"]}
    regrets = [np.mean(row["regret"]) for row in rows.values()]
    assert regrets == sorted(regrets)
    assert rows["Bayes-optimal, these pairings"]["avoidable_regret"] == pytest.approx(0, abs=1e-9)
    assert rows["Bayes-optimal, train pairings"]["train_avoidable_regret"] == pytest.approx(
        0, abs=1e-9
    )
    # Regret and points add up to the same for all.
    both = [np.add(row["points"], row["regret"]) for row in rows.values()]
    assert np.ptp(both, axis=0).max() < 1e-9
    assert main(["--rules", shipped_game, "--check", board]) == 0
    assert capsys.readouterr().out.count("as entered") == 3
    # Without the file of its rules, an entry cannot be measured.
    assert main(["--check", board]) == 1
    assert capsys.readouterr().out.count("not checked: its game tiny has no name here") == 3
    with monkeypatch.context() as named:
        named.setitem(RULE_SETS, "tiny", tiny.rules)
        assert main(["--check", board]) == 0
        assert capsys.readouterr().out.count("as entered") == 3
        assert main(["--check", board, "--test"]) == 1
        assert capsys.readouterr().out.count("not checked: it is of the validation split") == 3
    changed = json.loads((tmp_path / "board.json").read_text())
    changed["entries"][0]["points"]["d"][2] += 0.1
    changed["entries"][1]["strength"] += 0.1
    (tmp_path / "board.json").write_text(json.dumps(changed))
    assert main(["--rules", shipped_game, "--check", board]) == 1
    assert capsys.readouterr().out.count("entered, ") == 2
    (tmp_path / "board.json").write_text('{"format": "other", "entries": []}')
    refuses(SettingError, "expected a leaderboard", leaderboard.read, tmp_path / "board.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leaderboard", "leaderboard_exact"])
def test_all_entries_of_the_published_leaderboards_are_as_entered(name, capsys):
    assert main(["--check", str(ROOT / "benchmarks" / f"{name}.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 5
    assert all(line.endswith(": as entered") for line in lines)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["greedy", "--rules", "mini_3", "--quick"], "expected no --quick in a small game"),
        (["greedy", "--rules", "mini_5"], "expected a game with partners"),
        (["greedy", "--rules", "pagat"], "expected jga or a small game"),
        (["--rules", "mini_3"], "expected an agent or more"),
        (["gradient-0=random", "--rules", "mini_3"], "another name for each agent"),
        (["a=random", "a=greedy", "--rules", "mini_3"], "another name for each agent"),
        (["greedy", "--message"], "expected --message in a small game"),
        (["greedy", "--rules", "mini_4", "--message"], "mini_3-message, mini_4, got"),
        (["greedy", "--rules", "mini_3", "--message", "--enter", "x"], "no --enter with --message"),
        (["--check", "x", "--message"], "expected no --message with --check"),
    ],
)
def test_what_a_small_game_cannot_do_is_refused(argv, words, capsys):
    with pytest.raises(SystemExit):
        main(argv)
    assert words in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("message", [False, slow(True)])
def test_best_responses_to_shipped_players_are_those_that_are_shipped(tree, message):
    game = enumerate_game("mini_3", channel=Channel()) if message else tree
    players = Players.load(game)
    for number in players.of("test")[:3]:
        best = [bayes_optimal(game, [kind])[0] for kind in players.types(game, number)]
        assert best == pytest.approx(players.best[number], abs=1e-9)


@pytest.mark.parametrize("public", [False, True])
def test_a_message_is_observed_by_those_whom_it_reaches(tiny, public):
    tree = enumerate_game(tiny.rules, channel=Channel(bits=2, public=public))
    deals = len(tiny.chance)
    assert len(tree.info) == 4 * len(tiny.info) + deals
    assert value(tree, tree.uniform()) == pytest.approx(value(tiny, tiny.uniform()))
    # Who observes the message has four information sets for each that it had, else one.
    had, has = (np.bincount(one.seat, minlength=4) for one in (tiny, tree))
    senders = int(tree.sets[1])
    assert has[0] - senders == 4 * had[0]
    assert has[2] == 4 * had[2]
    assert has[1] == (4 if public else 1) * had[1]
    # Nobody forgets: the action before is of the same seat, the dealer's first is its message.
    before = tree.before[tree.before >= 0]
    assert (tree.seat[tree.owner[before]] == tree.seat[tree.before >= 0]).all()
    assert (tree.before[senders:][tree.seat[senders:] == 0] >= 0).all()


def test_a_message_that_stays_random_is_worth_nothing(tiny):
    tree = enumerate_game(tiny.rules, channel=Channel())
    with_message, without = Learner(tree), Learner(tiny)
    for _ in range(20):
        with_message.learn()
        without.learn()
    found, known = (value(one.tree, one.average()) for one in (with_message, without))
    assert found == pytest.approx(known, abs=1e-5)


def test_what_does_not_fit_is_refused(tiny):
    refuses(SettingError, "of 1 or 2 bits", Channel, 3)
    refuses(SettingError, "at most 12,500 deals", enumerate_game, "mini_5", channel=Channel(2))
    assert best_response(tiny, tiny.uniform(), 0).value > 0
