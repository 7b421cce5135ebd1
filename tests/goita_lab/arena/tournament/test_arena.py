"""The arena: duplicate deals, blocks that depend on their task alone, measures, intervals."""

import time
from dataclasses import replace

import numpy as np
import pytest
from loky import ProcessPoolExecutor

from goita_agents import AgentError, load_agent
from goita_env import JGA, GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.rules import RULE_SETS
from goita_env.seeds import GameNumbers
from goita_env.tiles import COUNTS
from goita_lab.arena.tournament import arena, plan
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import Task
from goita_lab.arena.tournament.seating import SEEDING_PURPOSE
from goita_lab.arena.tournament.summary import PairResult, Played


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
        assert result.round_win_rate == 0.5
        assert result.few
        assert result.round_win_few


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
    with ProcessPoolExecutor(2) as processes:
        elsewhere = list(processes.map(play_block, tasks))
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
    # The same deals, but none of the same numbers.
    assert len(players[0].drawn) > 1.9 * len(seen[0])


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


class Diary(LastLegal):
    """Writes down what it is told."""

    name = "diary"

    def __init__(self):
        self.hands, self.ended, self.begun, self.redeals = {}, {}, 0, 0

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

    def redeal(self, games, view):
        assert (games == view.game).all()
        assert all(game in self.hands for game in games.tolist())
        assert (view.num_plays == 0).all()
        self.redeals += len(games)

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
def test_an_agent_with_a_memory_is_told_of_every_deal_its_end_and_redeals(episode):
    task = block(("greedy", "diary"), deals=200, episode=episode)
    diary = Diary()
    result = play_block(task, [load_agent("greedy"), diary])
    assert len(diary.ended) == 4 * 200  # two seats in each of two games
    assert diary.redeals == diary.begun - 2 * result.rounds.sum() > 0  # they begin once more
    if episode == "round":
        numbers = GameNumbers(task.seed, SEEDING_PURPOSE, *task.agents)
        for seating, mine in ((0, 1), (1, 0)):
            games = numbers.numbers(2 * task.first + 200 * seating + np.arange(200))
            told = [diary.ended[4 * game + mine] for game in games.tolist()]
            assert (result.points[seating] == -np.array(told)).all()


def test_an_agent_that_runs_something_is_closed_by_what_built_it(monkeypatch):
    closed = []

    class Running(LastLegal):
        def close(self):
            closed.append(self)

    mine = Running()
    arena.play_pair(mine, "greedy", 4)
    play_block(block(("last legal", "greedy"), deals=4), [mine, load_agent("greedy")])
    assert closed == []
    play_block(block(deals=4))  # the first block of a process warms another instance up
    monkeypatch.setattr("goita_lab.arena.tournament.seating.build_agent", lambda name: Running())
    play_block(block(deals=4))
    assert len(closed) == 2


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


@pytest.mark.parametrize(
    ("deals", "settings", "words"),
    [
        *((deals, {}, "number of deals") for deals in (-1, 0, 1, 10**7 + 1, True, 2.0)),
        *((10, {"rules": "chess"}, "jga"), (10, {"seed": -1}, "seed")),
    ],
)
def test_an_impossible_number_of_deals_rule_set_or_seed_is_refused(deals, settings, words):
    with pytest.raises(SettingError, match=words):
        arena.play_pair("greedy", "random", deals, **settings)
