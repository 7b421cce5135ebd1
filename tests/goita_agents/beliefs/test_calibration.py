"""In play under the policy that is assumed, things happen as often as the listener believes."""

import numpy as np
import pytest

from deals import RULE_SETS
from goita_agents.beliefs import Listener, PolicyModel
from goita_env import Game

SEATS = ("next", "partner", "previous")


def gaps(rounds: int, seed: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Plays rounds by a policy that slips often, one seat listening.

    Returns:
        Decisions that were made; by round, sums over decisions of what came true less its
        probability, [rounds, 25]: each seat having one tile of each kind or more, and log-loss less
        entropy for the partner's hand; and ten bins of probability: number, mean, how often true.
    """
    assumed, rng = PolicyModel("greedy", epsilon=0.1), np.random.default_rng(seed)
    decisions, apart, bins = 0, [], np.zeros((10, 3))
    while len(apart) < rounds:
        rules, viewer = RULE_SETS[len(apart) % 3], len(apart) % 4
        game, heard = Game(rules, seed=int(rng.integers(2**40))), None
        gap, listened = np.zeros(25), 0
        while not game.done and len(game.deals) == 1:
            view = game.view(game.seat)
            chances = assumed.probabilities(view, view.legal())[0]
            game.play(int(rng.choice(69, p=chances)))
            view = game.view(viewer)
            if game.done or len(game.deals) > 1 or not view.num_plays[0]:
                continue
            heard = Listener(view, assumed) if heard is None else heard
            heard.update(view)
            listened += 1
            for seat, whose in enumerate(SEATS, start=1):
                belief, truth = heard.posterior(whose), game.dealt[(viewer + seat) % 4]
                likely, true = belief.at_least(1), truth > 0
                gap[8 * (seat - 1) : 8 * seat] += true - likely
                found = np.stack((np.ones(8), likely, true), axis=1)
                np.add.at(bins, np.minimum((10 * likely).astype(int), 9), found)
                if seat == 2:
                    gap[24] += belief.log_probability(truth) + belief.entropy()
        if heard is not None and len(game.deals) == 1:
            decisions += listened
            apart.append(gap)
    return decisions, np.array(apart), bins


def test_what_is_believed_comes_true_as_often():
    decisions, apart, _ = gaps(6, seed=4)
    assert decisions > 60
    summed = np.stack((apart[:, :24].sum(axis=1), apart[:, 24]))
    errors = summed.std(axis=1, ddof=1) / np.sqrt(len(apart))
    assert (abs(summed.mean(axis=1)) < 4 * errors).all()


@pytest.mark.slow
def test_what_is_believed_comes_true_as_often_over_many_rounds():
    decisions, apart, bins = gaps(1_700, seed=7)
    errors = apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
    number, likely, true = bins.T
    print(decisions, (apart.mean(axis=0) / errors).round(2), (true / number - likely / number))
    assert decisions > 25_000
    assert (abs(apart.mean(axis=0)) < 4 * errors).all()
    assert (abs(true - likely) < 0.02 * number).all()
