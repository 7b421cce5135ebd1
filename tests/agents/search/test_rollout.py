"""What the rollout bot tries, in which worlds, and that it finds what there is to find."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from deals import RULE_SETS, complete, digits, special_hands
from playing import legal_mask, played

from agents import AgentError, load_agent
from agents.base import sample as draw_action
from agents.bots.greedy import GreedyAgent
from agents.search import drawing, rollout, weighing
from agents.search.halving import Halving, playouts
from agents.search.playout import Player
from agents.search.rollout import RolloutAgent
from agents.tournament import arena
from goita_env import Game, actions
from goita_env.engine.match import Match
from goita_env.tiles import KING
from goita_env.views import asked_view, suppose
from goita_env.views.view import View
from goita_env.worlds import Worlds, determinize, enumerate_worlds, sample

PAWN_KING = actions.encode(0, KING)
"""Pawn face down, king attack."""


def rng(seed=0):
    return np.random.default_rng(seed)


@cache
def positions(rules="jga", games=40, seed=3):
    """Returns the decisions with a choice of some greedy rounds: views and masks."""
    agent, match = GreedyAgent(), Match(games, rules, seed=seed, auto_reset=False)
    match.reset(hands=special_hands(rng(seed), games) if seed % 2 else None)
    words, masks = [], []
    while (mask := legal_mask(match.state)).any():
        chosen, rows = mask.argmax(axis=1), np.flatnonzero(mask.sum(axis=1) > 1)
        if len(rows):
            view = asked_view(match.state)[rows]
            chosen[rows] = agent.act(view, mask[rows], rng())
            words.append(view.words)
            masks.append(mask[rows])
        match.step(chosen)
    return View(np.concatenate(words), None, rules), np.concatenate(masks)


def some(count, rules="jga", seed=3):
    """Returns so many of these decisions, from all over the rounds."""
    view, legal = positions(rules, seed=seed)
    rows = np.linspace(0, len(view) - 1, count).astype(int)
    return view[rows], legal[rows]


def answer(agent, game):
    """Returns an agent's action for the asked seat of a game."""
    view = game.view(game.seat)
    return int(agent.act(view, view.legal(), rng())[0])


class Opaque:
    """Draws random numbers, and tells nobody its probabilities."""

    name = "opaque"

    def act(self, view, legal, rng):
        return draw_action(legal.astype(float), rng)


# ------------------------------------------------------------------------------------------- worlds


@pytest.mark.parametrize("seed", [3, 5], ids=["play", "special hands"])
def test_every_action_is_tried_in_the_same_worlds_with_the_same_luck(seed, monkeypatch):
    tried = []

    def finish(self, positions, places, actions, keys, owners):
        hands = positions._state.hand.T[places].tolist()
        for owner, action, key, hand in zip(owners, actions, keys, hands, strict=True):
            tried[-1].setdefault((owner, action), []).append((int(key), hand))
        return np.zeros(len(actions))

    monkeypatch.setattr(Player, "finish", finish)
    run, view_legal = Halving.run, some(20, seed=seed)

    def stage_by_stage(self, play, caution):
        def one(pair, world):
            tried.append({})
            return play(pair, world)

        return run(self, one, caution)

    monkeypatch.setattr(Halving, "run", stage_by_stage)
    load_agent("rollout:worlds=16").act(*view_legal, rng())
    assert len(tried) >= 2
    for stage in tried:
        for owner in {owner for owner, _ in stage}:
            worlds = [found for (row, _), found in stage.items() if row == owner]
            assert all(found == worlds[0] for found in worlds)
    legal = view_legal[1]
    assert set(tried[0]) == set(zip(*np.nonzero(legal), strict=True))


def test_all_worlds_are_used_where_they_are_few():
    view, _ = positions()
    rows = np.flatnonzero(view.unseen.sum(axis=1) <= drawing.LISTED)
    many, listed = len(rows), 0
    seeds = np.arange(many, dtype=np.uint64)
    drawn = drawing.draw(view[rows], seeds, np.full(many, 400), 400, None)
    for row in range(many):
        worlds = enumerate_worlds(view[rows[[row]]], 400)
        if worlds is not None:
            found = drawn.worlds[np.arange(400 * row, 400 * row + drawn.count[row])]
            assert sorted(keys(found)) == sorted(keys(worlds))
            assert drawn.weight[row].sum() == pytest.approx(1)
            listed += 1
    assert listed >= 5


def keys(worlds):
    """Returns each world as bytes."""
    both = zip(worlds.hands, worlds.face_down, strict=True)
    return [hand.tobytes() + down.tobytes() for hand, down in both]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_greedy_round_is_certain_where_the_hands_are_the_true_ones(rules):
    dealt = special_hands(rng(4), 12)
    for number, hands in enumerate(dealt):
        game = Game(rules, hands=digits(hands), dealer=number % 4, seed=number)
        for _ in range(25):
            if game.done:
                break
            view = game.view(game.seat)
            assert likelihood(game, true_world(game), np.ones(4))[0] == 1
            game.play(int(GreedyAgent().act(view, view.legal(), rng())[0]))


def true_world(game):
    """Returns the world that is the case, as the asked seat would write it."""
    viewer, view = game.seat, game.view(game.seat)
    turned = [(viewer + seat) % 4 for seat in range(4)]
    others = np.stack([game.view(seat).hand[0] for seat in turned])
    down = np.full((1, 4, 4), -1, np.int8)
    for place, seat in enumerate(turned):
        own = game.view(seat)
        hidden = own.face_down[0, 0]
        down[0, place, hidden] = own.blocks[0, 0, hidden]
    return Worlds(others[None], down, np.ones(1), view.face_up)


def likelihood(game, worlds, trust):
    """Returns how likely greedy seats make worlds of the asked seat."""
    view, row = game.view(game.seat), np.zeros(len(worlds), np.int64)
    return weighing.likelihood(GreedyAgent(), view, worlds, row, trust)


@dataclass
class Record:
    """A deal as ``suppose`` reads it."""

    rules: object
    dealer: int
    scores: tuple[int, int]
    moves: list


def slowly(game, worlds, number, trust):
    """Works the likelihood of one world out seat by seat."""
    record, product = Record(game.rules, game.dealer, game.scores, game.moves), 1.0
    for place in (1, 2, 3):
        seat = (game.seat + place) % 4
        hand = np.repeat(np.arange(8), worlds.dealt[number, place])[None]
        down = worlds.face_down[number, place]
        views = suppose(record, seat, hand, down[down >= 0][None].astype(int))
        taken = [action for mover, action in game.moves if mover == seat]
        for seen, action in zip(views, taken, strict=True):
            legal = seen.legal()
            if legal.sum() > 1:
                pair = actions.decode(action)
                led = pair is not None and bool(seen.leads[0])
                block = int(down[4 - seen.hand_sizes[0, 0] // 2]) if led else 0
                played = actions.encode(block, pair[1]) if led else action
                sure = GreedyAgent().act(seen, legal, rng())[0] == played
                product *= trust * sure + (1 - trust) / legal.sum()
        if worlds.dealt[number, place, 0] > 4 and not {actions.CALL, actions.SILENT} & {*taken}:
            product *= (1 - trust) / 2  # greedy would have called
    return product


def test_weights_are_products_over_what_each_seat_would_have_seen(monkeypatch):
    monkeypatch.setattr(weighing, "HOPELESS", 0.0)
    hands, compared = special_hands(rng(6), 16), []
    for number, dealt in enumerate(hands):
        game = Game("jga", hands=digits(dealt), dealer=number % 4, seed=number)
        while not game.done and len(game.moves) < 12:
            view = game.view(game.seat)
            game.play(int(GreedyAgent().act(view, view.legal(), rng())[0]))
        if game.done or not any(action <= 64 for _, action in game.moves):
            continue
        worlds = sample(game.view(game.seat), 20, rng(number))
        found = likelihood(game, worlds, np.full(4, 0.5))
        expected = np.array([slowly(game, worlds, n, 0.5) for n in range(20)])
        assert found == pytest.approx(expected)
        compared.append(np.ptp(found))
    assert len(compared) >= 3
    assert max(compared) > 0


def test_hopeless_worlds_are_given_up_and_the_others_keep_their_weight(monkeypatch):
    game = played(Game("jga", hands=complete("11223345", "", "11334456", ""), dealer=0), "12", "p")
    worlds = sample(game.view(2), 400, rng())
    trust, weights = np.array([1, 1 - 1e-5, 0.5, 1 - 1e-5]), []
    for hopeless in (0.0, 1e-4):
        monkeypatch.setattr(weighing, "HOPELESS", hopeless)
        weights.append(likelihood(game, worlds, trust))
    everything, kept = weights
    assert (everything > 0).all()
    assert 0 < (kept == 0).sum() < 400
    assert np.array_equal(kept[kept > 0], everything[kept > 0])
    assert everything[kept == 0].max() < everything.max() / 50


def test_a_world_in_which_greedy_would_have_received_gets_hardly_any_weight():
    game = played(Game("jga", hands=complete("11223345", "", "11334456", ""), dealer=0), "12", "p")
    worlds = sample(game.view(2), 400, rng())
    passed = worlds.hands[:, 3, 1] > 0  # seat 1 as seat 2 sees it: it holds a lance, and passed
    weight = likelihood(game, worlds, drawing.TRUST)
    assert passed.any()
    assert weight[passed].max() < 0.2 * weight[~passed].max()


def test_a_policy_is_asked_once_where_a_seat_sees_the_same():
    view, _ = some(20)
    again = rng().integers(20, size=200)
    first, which = view[again].unique()
    assert np.array_equal(view[again].words[first][which], view[again].words)
    assert len(first) == len(np.unique(view[again].words, axis=0)) <= 20


def test_resampling_follows_the_weights_in_each_quarter():
    drawn = weighing.resample(np.array([0.0, 3.0, 1.0, 0.0]), 64, 0.3)
    assert np.bincount(drawn, minlength=4).tolist() == [0, 48, 16, 0]
    assert np.bincount(drawn[:16], minlength=4).tolist() == [0, 12, 4, 0]
    assert set(weighing.resample(np.zeros(3), 9, 0.5)) == {0, 1, 2}


def test_weights_are_levelled_only_where_too_few_worlds_count():
    even = np.r_[np.ones(40), 0.0]
    assert np.array_equal(drawing._levelled(even), even)
    steep = np.r_[0.0, 10.0 ** -np.arange(5), np.full(500, 1e-6)]
    level = drawing._levelled(steep)
    assert level[0] == 0
    assert (np.diff(level[1:]) <= 0).all()
    assert level.sum() ** 2 / (level**2).sum() > steep.sum() ** 2 / (steep**2).sum()
    assert drawing._levelled(np.zeros(3)).tolist() == [0, 0, 0]


# -------------------------------------------------------------------------------- what is searched


def test_where_the_base_is_sure_nothing_is_searched():
    view, legal = some(80)
    base, build = load_agent("champion"), "champion:search=on,worlds=8,belief=off,caution=0"
    chances = base.at(1.0).probabilities(view, legal).max(axis=1)
    bound = float(np.median(chances))
    own = load_agent("champion").act(view, legal, rng())
    searched = load_agent(f"{build},sure=1").act(view, legal, rng())
    found = load_agent(f"{build},sure={bound!r}").act(view, legal, rng())
    sure = chances > bound
    assert (searched != own)[sure].any()
    assert (searched != own)[~sure].any()
    assert found.tolist() == np.where(sure, own, searched).tolist()
    assert load_agent(f"{build},sure=0").act(view, legal, rng()).tolist() == own.tolist()


def test_where_too_much_is_unseen_nothing_is_searched():
    view, legal = some(60)
    build, unseen = "rollout:worlds=8,caution=0", view.unseen.sum(axis=1)
    own = load_agent("greedy").act(view, legal, rng())
    searched = load_agent(build).act(view, legal, rng())
    found = load_agent(f"{build},unseen=16").act(view, legal, rng())
    assert (searched != own)[unseen > 16].any()
    assert (searched != own)[unseen == 16].any()
    assert found.tolist() == np.where(unseen > 16, own, searched).tolist()
    with pytest.raises(AgentError, match="expected unseen of at least 0, got -1"):
        load_agent("rollout:unseen=-1")


def test_how_sure_a_base_is_must_be_known():
    with pytest.raises(AgentError, match=r"expected sure from 0 to 1, got 1\.5"):
        load_agent("rollout:sure=1.5")
    with pytest.raises(AgentError, match=r"known probabilities for sure=0\.9"):
        load_agent("rollout:base=rollout,weight=uniform,sure=0.9")


def test_the_budget_is_kept_in_playouts_and_not_in_time():
    counts = rollout._worlds_by_actions(256, 500.0)
    for number in range(2, 70):
        assert playouts(number, counts[number]) <= 500
        assert counts[number] == 256 or playouts(number, counts[number] + 1) > 500
    assert rollout._worlds_by_actions(64, 0.1)[1:].tolist() == [1] * 69
    assert (rollout._worlds_by_actions(64, 50 * rollout.RATE)[1:] == 64).all()


# ------------------------------------------------------------------------------------ independence


@pytest.mark.parametrize(
    "build",
    [
        lambda: load_agent("rollout:worlds=16"),
        lambda: load_agent("rollout:worlds=12,base=random"),
        lambda: load_agent("rollout:worlds=40,drop=behind,caution=0,ms=3"),
        lambda: load_agent("rollout:worlds=40,drop=behind,caution=0,base=champion"),
        lambda: load_agent(
            "rollout:worlds=1,weight=uniform,base=(rollout:worlds=1,weight=uniform)"
        ),
        lambda: RolloutAgent(Opaque(), worlds=8, weight="uniform"),
    ],
    ids=["greedy", "random", "elimination", "a network", "rollout", "no known policy"],
)
def test_a_row_is_answered_the_same_alone_and_in_any_batch(build, monkeypatch):
    view, legal = some(8)
    together = build().act(view, legal, rng(5))
    assert legal[np.arange(8), together].all()
    one, numbers = build(), rng(5)
    alone = [int(one.act(view[[row]], legal[[row]], numbers)[0]) for row in range(8)]
    assert alone == together.tolist()
    monkeypatch.setattr(rollout, "BATCH", 300)
    assert build().act(view, legal, rng(5)).tolist() == together.tolist()


def test_other_random_numbers_give_other_worlds():
    view, legal = some(60)
    agent = load_agent("rollout:worlds=4,base=random")
    assert (agent.act(view, legal, rng(1)) != agent.act(view, legal, rng(2))).any()


# ------------------------------------------------------------------------------------ what it plays


def test_a_redeal_is_worth_the_same_whatever_was_in_the_hands():
    points, keys = [], np.arange(200, dtype=np.uint64) << np.uint64(32)
    for first in ("11111234", "11111882"):
        game = played(Game("jga", hands=complete(first, "", "", ""), dealer=0), "call")
        assert actions.REDEAL in game.legal_actions()
        view = game.view(game.seat)
        positions, redeal = (
            determinize(view, sample(view, 200, rng())),
            np.full(200, actions.REDEAL),
        )
        owners, places, player = np.zeros(200, np.int64), np.arange(200), Player(GreedyAgent())
        points.append(player.finish(positions, places, redeal, keys, owners))
    assert np.array_equal(*points)
    assert (points[0] != 0).all()
    assert len(np.unique(points[0])) > 5


def test_it_finds_that_eight_pawns_are_worth_a_call():
    game = Game("jga", hands=complete("11111111", "", "", ""), dealer=0)
    assert answer(load_agent("rollout:base=random"), game) == actions.CALL


def test_it_finds_the_kings_attack_that_wins_for_sure_where_its_base_does_not():
    game = played(
        Game("jga", hands=["12355688", "11122336", "11124457", "11134457"], dealer=0),
        *("32", "26", "p", "p", "68", "p", "p", "p"),
    )
    assert answer(load_agent("rollout"), game) == PAWN_KING
    assert answer(GreedyAgent(), game) != PAWN_KING


def test_it_beats_its_base():
    result = arena.play_pair("rollout:worlds=8", "greedy", 100, seed=11)
    assert result.ci95[0] > 3


@pytest.mark.parametrize("rules", RULE_SETS)
def test_it_plays_by_all_rules_and_answers_special_hands(rules):
    arena.play_pair("rollout:worlds=4", "random", 4, rules=rules)
    view, legal = some(30, rules, seed=5)
    chosen = load_agent("rollout:worlds=4").act(view, legal, rng())
    assert legal[np.arange(30), chosen].all()
    assert (view.asked_call | view.asked_choice).any()


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("rollout:worlds=0", "expected worlds=1 to 100000, got 0"),
        ("rollout:worlds=many", "expected worlds=int, got 'many'"),
        ("rollout:ms=0", "above 0 and up to 10000000, got 0"),
        ("rollout:worlds=99999999999999999999", "expected worlds=1 to 100000"),
        ("rollout:ms=1e308", "above 0 and up to 10000000, got 1e"),
        ("rollout:ms=nan", "above 0 and up to 10000000, got nan"),
        ("rollout:weight=polcy", "expected weight=uniform or policy, got 'polcy'"),
        ("rollout:base=gready", "expected an agent of"),
        ("rollout:base=(exec:true)", "a program of its own"),
        ("rollout:base=(rollout:worlds=2)", "weight=uniform does without"),
        ("rollout:weight=uniform,belief=on", "weight=policy with belief=on"),
        ("rollout:depth=3", "options \\(base=greedy, worlds=64, ms=50.0, weight=policy, belief="),
    ],
)
def test_bad_options_say_what_was_expected(spec, text):
    with pytest.raises(AgentError, match=text):
        load_agent(spec)


def test_a_base_with_a_memory_is_refused():
    class Remembering(Opaque):
        def begin(self, games, seats, view): ...
        def end(self, games, results, hands): ...

    with pytest.raises(AgentError, match="got 'opaque', which has a memory"):
        RolloutAgent(Remembering(), weight="uniform")


@pytest.mark.parametrize("spec", ["rollout:worlds=4", "solver:worlds=4,ms=2"])
def test_a_view_of_a_seat_that_is_not_asked_is_refused(spec):
    game = Game(hands=complete("", "", "", ""), dealer=0)
    game.play(game.legal_actions()[0])
    waiting = game.view((game.seat + 1) % 4)
    legal = np.ones((1, 69), bool)
    with pytest.raises(AgentError, match="expected views of seats that are asked"):
        load_agent(spec).act(waiting, legal, rng())


def test_without_a_policy_listed_worlds_count_by_their_probability():
    found = 0
    for seed in range(40):
        game, numbers = Game(seed=seed), rng(seed)
        while not game.done:
            view = game.view(game.seat)
            listed = enumerate_worlds(view, 64) if view.unseen.sum() <= drawing.LISTED else None
            if listed is not None and len(set(listed.weight.round(9))) > 1:
                seeds = np.array([3], np.uint64)
                drawn = drawing.draw(view, seeds, np.array([64]), 64, None)
                kept = sorted(drawn.weight[0, : drawn.count[0]])
                assert kept == pytest.approx(sorted(listed.weight))
                found += 1
            game.play(int(numbers.choice(game.legal_actions())))
    assert found > 3
