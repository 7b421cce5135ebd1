"""The enumerated game beside the oracle, which knows neither the engine nor the tree."""

import numpy as np
import pytest

from deals import tiles_of
from goita_agents import load_agent
from goita_env import JGA, Game, GoitaVectorEnv, Rules
from goita_env.errors import SettingError
from goita_lab.exact.tree import deals, enumerate_game
from goita_lab.exact.values import value
from oracle import ORACLE_RULES, OracleRules, Referee
from raising import refuses
from samples import slow


class Walker:
    """Walks through histories of a tree and of the oracle at the same time."""

    def __init__(self, tree):
        self.tree, self.hands = tree, deals(tree.rules)[0]
        text = ORACLE_RULES["jga"]
        self.judged_by = OracleRules(**{**vars(text), "deck": tree.rules.deck})

    def begin(self, deal):
        return Referee(self.judged_by, tiles_of(self.hands[deal]), 0)

    def agree(self, node, judge):
        """Compares a history with the oracle's; returns its successors, none at the end."""
        tree, sets = self.tree, int(self.tree.info[node])
        if judge.phase == "over":
            assert sets == -1
            assert tree.points[node] == judge.points * (1 - 2 * (judge.winner % 2))
            return []
        assert tree.seat[sets] == judge.seat
        start, end = tree.starts[sets : sets + 2]
        assert tree.action[start:end].tolist() == judge.legal_actions()
        first = int(tree.first[node])
        return [(first + k, int(action)) for k, action in enumerate(tree.action[start:end])]


@pytest.mark.parametrize("name", ["mini_3", "mini_4"])
def test_random_histories_are_those_of_the_oracle(name):
    walker, rng = Walker(enumerate_game(name)), np.random.default_rng(0)
    for deal in rng.integers(len(walker.hands), size=100).tolist():
        judge, node = walker.begin(deal), deal
        while following := walker.agree(node, judge):
            node, action = following[rng.integers(len(following))]
            judge.play(action)


@pytest.mark.parametrize("share", [slow(1.0)])
def test_all_histories_of_the_smallest_game_are_those_of_the_oracle(tree, share):
    walker, met = Walker(tree), 0

    def visit(node, deal, moves):
        nonlocal met
        met += 1
        judge = walker.begin(deal)
        for move in moves:
            judge.play(move)
        for following, action in walker.agree(node, judge):
            visit(following, deal, [*moves, action])

    for deal in range(int(share * len(walker.hands))):
        visit(deal, deal, [])
    assert met == len(tree.info)


def test_sizes_of_the_smallest_games_are_pinned(tree):
    assert (len(tree.chance), len(tree.info)) == (889, 530_729)
    assert (len(tree.seat), len(tree.action)) == (15_648, 24_930)
    for name, many, hands in (("mini_4", 6_112, 31), ("mini_5", 22_552, 58)):
        found, chance = deals(Game(name).rules)
        assert (len(found), len({tuple(hand) for hand in found[:, 0].tolist()})) == (many, hands)
        assert chance.sum() == pytest.approx(1)


def test_deals_are_as_likely_as_they_are_dealt(tree):
    hands, chance = deals(tree.rules)
    env = GoitaVectorEnv(100_000, "mini_3", seed=5, observe=False)
    env.reset()
    dealt = env._match.state.dealt_counts().reshape(-1, 32)
    known = {tuple(deal): n for n, deal in enumerate(hands.reshape(-1, 32).tolist())}
    seen = np.bincount([known[tuple(deal)] for deal in dealt.tolist()], minlength=len(chance))
    expected = chance * len(dealt)
    chi = ((seen - expected) ** 2 / expected).sum()
    assert abs(chi - len(chance)) < 5 * np.sqrt(2 * len(chance))


def test_histories_of_an_information_set_look_alike_and_remember_alike(tiny):
    view = tiny.view()
    legal = view.legal()
    for sets in range(len(tiny.seat)):
        start, end = tiny.starts[sets : sets + 2]
        assert np.flatnonzero(legal[sets]).tolist() == tiny.action[start:end].tolist()
    before = tiny.before[tiny.before >= 0]
    later = tiny.seat[tiny.before >= 0]
    assert (tiny.seat[tiny.owner[before]] == later).all()


def test_more_eyes_see_more_and_carry_a_policy_over(tiny):
    policy = np.random.default_rng(0).random(len(tiny.action))
    policy /= np.add.reduceat(policy, tiny.starts[:-1])[tiny.owner]
    known, sets = value(tiny, policy), [len(tiny.seat)]
    for eyes in ("blocks", "partner", ("own", "partner")):
        other = enumerate_game(tiny.rules, eyes)
        assert (other.points == tiny.points).all()
        assert value(other, other.carry(policy, tiny)) == pytest.approx(known)
        sets.append(len(other.seat))
    assert sets[0] < min(sets[1:])
    assert sets[3] < sets[2]
    assert enumerate_game(tiny.rules, "partner").players == (0, 1, 0, 1)
    assert enumerate_game(tiny.rules, ("own", "partner")).players == (0, 1, 2, 1)


def test_an_agents_policy_is_worth_what_it_makes_in_play(tree):
    agents = [load_agent(name) for name in ("random", "greedy", "random", "greedy")]
    expected = value(tree, tree.policy_of(agents))
    env = GoitaVectorEnv(20_000, "mini_3", seed=1, observe=False)
    turn, gained, rng = env.reset(dealer=0), [], np.random.default_rng(2)
    while len(gained) < 20_000:
        acting = turn.seat % 2
        chosen = env.sample_legal(rng)
        some = np.flatnonzero(acting)
        chosen[some] = agents[1].act(turn.view[some], turn.action_mask[some], rng)
        dealt = env._match.state.dealer.copy()
        turn = env.step(chosen)
        ended = turn.done & (dealt == 0)
        gained += (turn.points * (1 - 2 * (turn.winner % 2)))[ended].tolist()
    error = np.std(gained) / np.sqrt(len(gained))
    assert abs(np.mean(gained) - expected) < 4 * error


def test_only_small_games_of_few_histories_are_enumerated():
    refuses(SettingError, "expected a small game", enumerate_game, JGA)
    large = Rules(name="large", deck=(2,) * 8)
    refuses(SettingError, "at most 50,000 deals, got more in 'large'", enumerate_game, large)
