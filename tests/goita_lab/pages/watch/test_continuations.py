"""How play may go on after an action: the commonest moves, counted again game by game."""

from collections import Counter

import numpy as np
import pytest

from record_samples import LINE

pytest.importorskip("numba")

from goita_agents import load_agent
from goita_agents.beliefs.people import people
from goita_agents.beliefs.types import TypeListener
from goita_env import Game, actions, records
from goita_env.hands import format_hand
from goita_lab.pages.watch import continuations
from goita_lab.pages.watch.analysis import AnalysisSettings, analyse_deal
from goita_lab.pages.watch.continuations import LEAST, LENGTH, MOST_CONTINUED
from goita_lab.pages.watch.matches import MatchPriors
from goita_lab.pages.watch.valuing import TypedSearch

HAND = "11345589"
DEAL = records.history.loads(LINE).deals[0]


def lead(hands=(HAND, "11122346", "11123467", "11234557")) -> Game:
    """A deal before the dealer's first lead; the dealer sits at seat 0."""
    game = Game(hands=list(hands), dealer=0, seed=0)
    while actions.SILENT in game.legal_actions():
        game.play(actions.SILENT)
    return game


def valued(game: Game, played: str, types=("greedy",), worlds=128, agent="greedy"):
    """The actions of a decision, valued with a seed of 7."""
    others = people(types)
    search = TypedSearch(load_agent(agent), others, worlds, MatchPriors(others).after(()))
    chances = np.zeros(actions.NUM_ACTIONS)
    found = search.value(game.view(game.seat), game.seat, actions.parse(played), 7, chances, {})
    return {one.action: one for one in found.options}


def played_out(hands: list[str], action: str) -> tuple[str, ...]:
    """What seat 0 sees after its first lead if all seats play like greedy."""
    game, bot, seen = lead(hands), load_agent("greedy"), []
    game.play(actions.parse(action))
    while not game.done:
        seat, leads = game.seat, bool(game.view(game.seat).leads[0])
        view = game.view(seat)
        (chosen,) = bot.act(view, view.legal(), np.random.default_rng(0)).tolist()
        game.play(chosen)
        name = actions.name(chosen)
        hidden = leads and seat != 0 and chosen != actions.PASS
        seen.append(f"{seat}:{'x' + name[1] if hidden else name}{'!' if game.done else ''}")
    return tuple(seen)


def test_a_line_is_the_commonest_of_games_that_are_played_one_by_one(monkeypatch):
    monkeypatch.setattr(continuations, "FOLLOWED", 8)  # every fourth world of the first quarter
    game = lead()
    options = valued(game, "13", worlds=128)
    listener = TypeListener(game.view(0), people(("greedy",)))
    games = {one.action: Counter() for one in options.values() if one.continuation}
    assert len(games) >= MOST_CONTINUED
    for number in (0, 1):  # greedy, and greedy with half of its actions at random: equal playouts
        chance = listener.probability().sum(axis=1)[number]
        worlds, _ = listener.sample(128, np.random.default_rng(7), number)
        for hands in worlds.hands[:32:4].astype(np.int64):
            for action, seen in games.items():
                line = played_out([format_hand(hand) for hand in hands], action)
                seen[line[:LENGTH]] += chance / 8
    for action, seen in games.items():
        prefix = ()
        for step in options[action].continuation:
            following = Counter()
            for line, share in seen.items():
                if line[: len(prefix)] == prefix and len(line) > len(prefix):
                    following[line[len(prefix)]] += share
            told = f"{step.seat}:{step.move}{'!' if step.ends else ''}"
            assert step.share == pytest.approx(following[told])
            assert following[told] == pytest.approx(max(following.values()))
            prefix += (told,)


def test_a_line_that_nobody_stops_goes_on_to_the_end_of_the_round():
    line = valued(lead(), "13", ("passing_bots:Passing",), 16)["13"].continuation
    assert [one.share for one in line] == pytest.approx([1.0] * LENGTH)
    assert [one.seat for one in line] == [1, 2, 3, 0, 1, 2, 3, 0]
    assert [one.move for one in line[:3]] == ["p"] * 3
    assert not any(one.ends for one in line)
    game = lead()
    for played in ("13", "p", "p", "p", "14", "p", "p", "p"):
        game.play(played)
    last = valued(game, "58", ("passing_bots:Passing",), 16)["58"].continuation
    assert [one.ends for one in last] == [False] * 3 + [True]


def test_lines_show_what_the_mover_would_see_and_end_where_few_worlds_are_left():
    decisions = analyse_deal(DEAL, AnalysisSettings("greedy", worlds=32, types=("greedy",)))
    leads = seen = 0
    for one in decisions:
        attackers = [each.seat for each in decisions[: one.move - 1] if each.action != "p"]
        followed = [option for option in one.options if option.continuation]
        assert len(followed) <= MOST_CONTINUED + 2
        for option in followed:
            steps, last = option.continuation, attackers[-1] if attackers else None
            last = last if option.action == "p" else one.seat
            shares = [1.0, *(step.share for step in steps)]
            assert (np.diff(shares) < 1e-9).all()
            assert min(shares[2:], default=1) >= LEAST
            assert not any(step.ends for step in steps[:-1])
            for number, step in enumerate(steps, 1):
                assert step.seat == (one.seat + number) % 4
                if step.move == "p":
                    continue
                hidden = step.seat != one.seat and step.seat == last
                assert step.move.startswith("x") == hidden
                leads, seen, last = leads + hidden, seen + 1, step.seat
    assert leads > 3
    assert seen > 30


def test_a_line_does_not_hang_on_hands_that_the_mover_does_not_see():
    one = valued(lead(), "13")
    other = valued(lead((HAND, "11234557", "11122346", "11123467")), "13")
    assert one == other


def test_the_same_seed_gives_the_same_line_of_players_who_draw_random_numbers():
    one, two = (valued(lead(), "13", ("random",), agent="random") for _ in range(2))
    assert one == two
    assert len({step.share for o in one.values() for step in o.continuation}) > 3
