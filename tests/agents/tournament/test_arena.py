"""The arena: duplicate deals, blocks that depend on their task alone, measures, intervals."""

import time
from dataclasses import replace

import numpy as np
import pytest
from joblib import Parallel, delayed
from scipy.stats import binomtest

from agents import AgentError, load_agent
from agents.statistics.intervals import (
    mean_interval,
    rate_interval,
    ratio_interval,
    variance_removed,
)
from agents.tournament import arena, plan
from agents.tournament.block import play_block
from agents.tournament.seated import PURPOSE
from agents.tournament.summary import PairResult, Played
from agents.tournament.task import Task
from goita_env import JGA, GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.rules import RULE_SETS
from goita_env.seeds import GameNumbers
from goita_env.tiles import COUNTS


class LastLegal:
    """Plays the legal action with the highest number: no bot, but a policy without chance."""

    name = "last legal"

    def act(self, view, legal, rng):
        return 68 - legal[:, ::-1].argmax(axis=1)


def block(agents=("greedy", "random"), deals=64, **settings):
    return Task(agents, seed=5, block=2, first=128, deals=deals, rules=JGA, **settings)


def summed_up(results):
    """A pair's result from its blocks, in whatever order they were played."""
    results = sorted(results, key=lambda one: one.task.block)
    pairing = plan.Pairing(results[0].task.agents, tuple(one.task for one in results))
    return PairResult.of(Played(pairing, tuple(results)))


def outcome(result):
    """All of a block's result but its times."""
    return [part.tolist() for part in (result.points, result.rounds, result.won, result.decisions)]


# ------------------------------------------------------------------------------ duplicate deals


def test_a_block_scores_as_its_games_do_one_by_one_in_the_environment():
    task = replace(block(deals=24), agents=("greedy", "last legal"))
    players = [load_agent("greedy"), LastLegal()]
    result = play_block(task, players)
    for seating, points in zip(task.seatings, result.points, strict=True):
        env = GoitaVectorEnv(task.first + task.deals, seed=task.seed)
        turn, scored = env.reset(), {}
        while len(scored) < env.num_games:
            chosen = np.zeros(env.num_games, int)
            for game, seat in enumerate(turn.seat):
                player = players[seating[seat]]
                row = slice(game, game + 1)
                chosen[game] = player.act(turn.view[row], turn.action_mask[row], None)[0]
            turn = env.step(chosen)
            for game in np.flatnonzero(turn.done):
                scored.setdefault(game, turn.reward[game, 0] * (1 if seating[0] == 0 else -1))
        assert points.tolist() == [scored[task.first + deal] for deal in range(task.deals)]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_an_agent_without_chance_scores_exactly_zero_against_itself(rules):
    for name in ("greedy", LastLegal()):
        result = arena.play_pair(name, name, 500, seed=2, rules=rules)
        assert (result.points_per_round, result.ci95) == (0, (0, 0))
        assert (result.round_win_rate, result.round_win_ci95) == (0.5, (0.5, 0.5))


def test_an_agent_with_chance_scores_zero_against_itself_within_the_interval():
    result = arena.play_pair("random", "random", 5000, seed=2)
    assert result.ci95[0] < 0 < result.ci95[1]
    assert result.round_win_ci95[0] < 0.5 < result.round_win_ci95[1]


def test_exchanging_two_agents_without_chance_turns_the_sign():
    one = arena.play_pair("greedy", LastLegal(), 300, seed=3)
    other = arena.play_pair(LastLegal(), "greedy", 300, seed=3)
    assert one.points_per_round == -other.points_per_round != 0
    assert one.round_win_rate == pytest.approx(1 - other.round_win_rate)


def test_players_sit_as_the_seatings_say():
    met = [set(), set(), set()]

    class Noting(LastLegal):
        def __init__(self, player):
            self.player = player

        def act(self, view, legal, rng):
            met[self.player] |= set((view.game % 4).tolist())
            return super().act(view, legal, rng)

    # The partners a and b against two of c.
    seatings = ((0, 2, 1, 2), (2, 0, 2, 1))
    task = block(("a", "b", "c"), seatings=seatings)
    result = play_block(task, [Noting(0), Noting(1), Noting(2)])
    assert met == [{0, 1}, {2, 3}, {0, 1, 2, 3}]
    assert (result.points[0] == -result.points[1]).all()


# ------------------------------------------------------------------- blocks, the unit of everything


def test_a_block_depends_on_its_task_alone():
    task = block()
    alone = outcome(play_block(task))
    players = [load_agent(name) for name in task.agents]
    play_block(replace(task, block=7), players)
    assert outcome(play_block(task, players)) == alone
    assert outcome(play_block(replace(task, seed=6))) != alone
    assert outcome(play_block(replace(task, block=3))) != alone  # the same deals, other chance


def test_blocks_come_out_the_same_in_any_order_and_in_other_processes():
    tasks = plan.tasks(("random", "greedy"), 300, seed=9, block_deals=64)
    here = [outcome(play_block(task)) for task in tasks]
    backwards = [outcome(play_block(task)) for task in reversed(tasks)]
    elsewhere = Parallel(n_jobs=2)(delayed(play_block)(task) for task in tasks)
    assert here == backwards[::-1] == [outcome(result) for result in elsewhere]
    one, other = summed_up(elsewhere), summed_up(elsewhere[::-1])
    assert (one.points_per_round, one.ci95) == (other.points_per_round, other.ci95)


def test_each_player_has_a_chance_of_its_own_in_each_block():
    class Drawing(LastLegal):
        def __init__(self):
            self.drawn = set()

        def act(self, view, legal, rng):
            self.drawn |= set(rng.random(len(view)).tolist())
            return super().act(view, legal, rng)

    players = [Drawing(), Drawing()]
    play_block(block(), players)
    seen = [set(player.drawn) for player in players]
    play_block(replace(block(), block=3), players)
    assert not seen[0] & seen[1]
    assert len(players[0].drawn) > 1.9 * len(
        seen[0]
    )  # the same deals, but none of the same numbers


def test_blocks_cover_all_deals_once():
    tasks = plan.tasks(("greedy", "random"), 1000, block_deals=256)
    deals = [deal for task in tasks for deal in range(task.first, task.first + task.deals)]
    assert deals == list(range(1000))
    assert [task.block for task in tasks] == [0, 1, 2, 3]


def test_whole_matches_are_played_to_a_winner():
    task = block(("greedy", "greedy"), episode="match")
    result = play_block(task)
    env = GoitaVectorEnv(task.first + task.deals, episode="match", seed=task.seed)
    greedy, turn = load_agent("greedy"), env.reset()
    points, rounds, over = np.zeros((3, env.num_games), int)
    won = np.zeros(env.num_games, bool)
    while not over.all():
        turn = env.step(greedy.act(turn.view, turn.action_mask, None))
        points += np.where(over, 0, turn.reward[:, 0]).astype(int)
        rounds += np.where(over, 0, turn.points > 0)
        won |= turn.done & (over == 0) & (turn.winner % 2 == 0)
        over |= turn.done
    played = slice(task.first, None)
    assert (result.points == [points[played], -points[played]]).all()
    assert (result.rounds == rounds[played]).all()
    assert (result.won == [won[played], ~won[played]]).all()
    assert rounds.mean() > 3


# ------------------------------------------------------------------------------------ measuring


def test_decisions_with_a_choice_are_counted_and_timed():
    class Slow(LastLegal):
        asked = 0

        def act(self, view, legal, rng):
            assert (legal.sum(axis=1) > 1).all()
            self.asked += len(view)
            time.sleep(0.001)
            return super().act(view, legal, rng)

    slow = Slow()
    result = play_block(block(("slow", "random")), [slow, load_agent("random")])
    assert result.decisions[0] == slow.asked > 0
    assert 0.02 < result.thinking[0] < result.seconds
    pair = summed_up([result])
    assert pair.points_per_round == pytest.approx(result.points.mean())
    assert pair.round_win_rate == pytest.approx((result.points > 0).mean())
    expected = 1000 * result.thinking[0] / slow.asked
    assert pair.ms_per_decision["slow"] == pytest.approx(expected)
    assert pair.rounds_per_second == pytest.approx(128 / result.seconds)


@pytest.mark.slow  # a figure of an ordinary core with nothing else to do
def test_greedy_and_random_play_twenty_thousand_rounds_a_second_on_one_core():
    tasks = plan.tasks(("greedy", "random"), 2048, seed=1)
    players = [load_agent("greedy"), load_agent("random")]
    seconds = []
    for _ in range(4):
        start = time.process_time()
        for task in tasks:
            play_block(task, players)
        seconds.append(time.process_time() - start)
    assert 2 * 2048 / min(seconds) > 20_000


# ------------------------------------------------------------------------ agents with a memory


class Diary(LastLegal):
    """Writes down what it is told."""

    name = "diary"

    def __init__(self):
        self.hands, self.ended, self.begun = {}, {}, 0

    def begin(self, games, seats, view):
        assert (games == view.game).all()
        assert (games % 4 == seats).all()
        assert (view.num_plays == 0).all()
        self.begun += len(games)
        self.hands |= dict(zip(games.tolist(), view.hand.tolist(), strict=True))
        self.ended |= dict.fromkeys(games.tolist())

    def act(self, view, legal, rng):
        for game, hand in zip(view.game.tolist(), view.hand, strict=True):
            assert self.ended[game] is None
            assert (hand <= self.hands[game]).all()
        return super().act(view, legal, rng)

    def end(self, games, results, hands):
        assert (games == results.view.game).all()
        assert (hands.sum(axis=1) == COUNTS).all()
        assert (hands.sum(axis=2) == 8).all()
        rows = zip(games.tolist(), results.winner, results.points, hands, strict=True)
        for game, winner, points, dealt in rows:
            assert self.ended[game] is None
            assert dealt[game % 4].tolist() == self.hands[game]
            self.ended[game] = points if winner % 2 == game % 2 else -points


@pytest.mark.parametrize("episode", ["round", "match"])
def test_an_agent_with_a_memory_is_told_of_every_deal_and_its_end(episode):
    task = block(("greedy", "diary"), deals=200, episode=episode)
    diary = Diary()
    result = play_block(task, [load_agent("greedy"), diary])
    assert len(diary.ended) == 4 * 200  # two seats in each of two games
    assert diary.begun > 2 * result.rounds.sum()  # redeals begin once more
    if episode == "round":
        numbers = GameNumbers(task.seed, PURPOSE, *task.agents)
        for seating, mine in ((0, 1), (1, 0)):
            games = numbers.shown(2 * task.first + 200 * seating + np.arange(200))
            told = [diary.ended[4 * game + mine] for game in games.tolist()]
            assert (result.points[seating] == -np.array(told)).all()


def test_an_agent_that_wants_to_know_is_told_of_deals_that_ended_in_a_redeal():
    class Told(Diary):
        redeals = 0

        def redeal(self, games, view):
            assert (games == view.game).all()
            assert all(game in self.hands for game in games.tolist())
            assert (view.num_plays == 0).all()
            self.redeals += len(games)

    told = Told()
    result = play_block(block(("greedy", "told"), deals=400), [load_agent("greedy"), told])
    assert told.redeals == told.begun - 2 * result.rounds.sum() > 0


def test_an_agent_that_runs_something_is_closed_by_whoever_built_it(monkeypatch):
    closed = []

    class Running(LastLegal):
        def close(self):
            closed.append(self)

    mine = Running()
    arena.play_pair(mine, "greedy", 4)
    play_block(block(("last legal", "greedy"), deals=4), [mine, load_agent("greedy")])
    assert closed == []
    monkeypatch.setattr("agents.tournament.seated.load_agent", lambda name: Running())
    play_block(block(deals=4))
    assert len(closed) == 2


# ------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    "answer",
    [
        lambda legal: np.full(len(legal), 69),
        lambda legal: np.full(len(legal), -1),
        lambda legal: legal.argmin(axis=1),
        lambda legal: np.zeros(len(legal)),
        lambda legal: np.zeros(1, int) if len(legal) > 1 else np.zeros(2, int),
        lambda legal: None,
    ],
)
def test_an_illegal_answer_is_reported_with_the_agents_name(answer):
    class Wrong(LastLegal):
        name = "wrong one"

        def act(self, view, legal, rng):
            return answer(legal)

    with pytest.raises(AgentError, match="'wrong one'"):
        arena.play_pair(Wrong(), "random", 10)


@pytest.mark.parametrize("deals", [-1, 0, 1, 10**7 + 1, True, 2.0])
def test_an_impossible_number_of_deals_is_refused(deals):
    with pytest.raises(SettingError, match="number of deals"):
        arena.play_pair("greedy", "random", deals)


def test_an_unknown_rule_set_seed_or_agent_is_refused():
    with pytest.raises(SettingError, match="jga"):
        arena.play_pair("greedy", "random", 10, rules="chess")
    with pytest.raises(SettingError, match="seed"):
        arena.play_pair("greedy", "random", 10, seed=-1)
    with pytest.raises(AgentError, match="greedy"):
        arena.play_pair("greedy", "gredy", 10)


# ------------------------------------------------------------------------------------ intervals


def test_the_interval_of_a_mean_covers_it_in_95_of_100_samples():
    draws = np.random.default_rng(4)
    samples = draws.choice([-30.0, -10.0, 0.0, 20.0, 25.0], size=(400, 100))
    intervals = [mean_interval(sample) for sample in samples]
    covered = np.mean([i.low < 1.0 < i.high for i in intervals])
    assert 0.91 < covered < 0.98


def test_the_bootstrap_and_the_normal_interval_agree_where_one_replaces_the_other():
    draws = np.random.default_rng(5)
    values = draws.choice([-30.0, -10.0, 0.0, 20.0, 25.0], size=10_000)
    normal, resampled = mean_interval(values), mean_interval(values[:-1])
    assert normal.low == pytest.approx(resampled.low, abs=0.02)
    assert normal.high == pytest.approx(resampled.high, abs=0.02)
    assert resampled == mean_interval(values[:-1])


def test_the_interval_of_a_rate_is_wilsons_where_games_are_independent():
    wins = np.repeat([1.0, 0.0], [14, 6])
    wilson = binomtest(14, 20).proportion_ci(method="wilson")
    found = rate_interval(wins)
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))
    assert rate_interval(np.ones(20)).low == pytest.approx(
        binomtest(20, 20).proportion_ci(method="wilson").low
    )


def test_games_that_share_a_deal_count_less_if_they_agree_and_more_if_they_cancel():
    agree = np.repeat([1.0, 0.0], [60, 40])
    cancel = np.repeat([1.0, 0.5, 0.0], [15, 90, 5])
    assert rate_interval(agree).high - rate_interval(agree).low > 0.18
    assert rate_interval(cancel).high - rate_interval(cancel).low < 0.09


def test_an_interval_takes_two_deals():
    for interval in (mean_interval, rate_interval):
        with pytest.raises(SettingError, match="two"):
            interval([1.0])


def test_the_interval_of_a_ratio_counts_long_matches_as_long_ones():
    draws = np.random.default_rng(6)
    rounds = draws.integers(2, 12, 300)
    points = draws.normal(3 * rounds, 20 * np.sqrt(rounds))
    found = ratio_interval(points, rounds)
    assert found.mean == pytest.approx(points.sum() / rounds.sum())
    residuals = (points - found.mean * rounds) / rounds.mean()
    half = 1.96 * residuals.std(ddof=1) / np.sqrt(300)  # the delta method, by hand
    assert found.low == pytest.approx(found.mean - half, abs=0.2 * half)
    assert found.high == pytest.approx(found.mean + half, abs=0.2 * half)
    many = ratio_interval(np.tile(points, 40), np.tile(rounds, 40))
    assert many.high - many.mean == pytest.approx(half / np.sqrt(40), rel=0.01)
    assert ratio_interval(3 * rounds, rounds) == ratio_interval([3, 3], [1, 1])


def test_the_rate_of_rounds_won_in_matches_is_that_of_all_rounds():
    won, games = np.repeat([[1.0, 2.0], [4.0, 4.0], [0.0, 3.0]], 30, axis=0).T
    found = rate_interval(won, games)
    assert found.mean == pytest.approx(5 / 9)
    assert found.low < 5 / 9 < found.high
    shares = rate_interval(won / 4, np.full(90, 1.0))
    assert shares == rate_interval(won / 4)


def test_the_variance_removed_is_all_if_games_cancel_and_none_if_they_are_independent():
    points = np.random.default_rng(7).normal(0, 25, 20_000)
    assert variance_removed([points, -points]) == 1
    assert variance_removed(points.reshape(2, -1)) == pytest.approx(0, abs=0.03)
    assert variance_removed([points, points]) == pytest.approx(-1, abs=0.01)
    luck = np.random.default_rng(8).normal(0, 25, 20_000)
    half = np.array([luck + points, -luck + np.roll(points, 1)])
    assert variance_removed(half) == pytest.approx(0.5, abs=0.03)
    assert variance_removed(np.zeros((2, 5))) == 0
