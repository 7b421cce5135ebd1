"""Greedy against its six rules, read out one by one."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_env import GoitaVectorEnv, actions
from goita_env.rules import RULE_SETS
from samples import only

POINTS = [10, 20, 20, 30, 30, 40, 40, 50]
KING = 7


def count(hand, kind):
    return sum(1 for tile in hand if tile == kind)


def score(rules, block, attack, face_down):
    """Points of a last pair, as a player adds them up."""
    alike = block == attack and not (block == KING and rules.name == "nine")
    return POINTS[attack] * 2 if face_down and alike else POINTS[attack]


def cheapest(kinds):
    best = None
    for kind in sorted(kinds):
        if best is None or POINTS[kind] < POINTS[best]:
            best = kind
    return best


def by_the_rules(rules, hand, legal, attack, attacker):
    """The action of the six rules for one hand (kinds), with the name of the rule that chose it."""
    if actions.CALL in legal:
        return actions.CALL, "call"
    if actions.REDEAL in legal:
        return (actions.CONTINUE, "continue") if KING in hand else (actions.REDEAL, "redeal")
    pairs = [actions.decode(action) for action in sorted(legal) if action != actions.PASS]
    if not pairs:
        return actions.PASS, "must pass"
    leads = actions.PASS not in legal
    if len(hand) == 2:
        points = [score(rules, block, new, leads) for block, new in pairs]
        block, new = pairs[points.index(max(points))]
        return actions.encode(block, new), "partner's last" if attacker == 2 else "last"
    if not leads and attacker == 2:
        return actions.PASS, "partner's attack"
    if leads:
        single = [kind for kind in set(hand) if count(hand, kind) == 1 and kind != KING]
        others = [kind for kind in set(hand) if kind != KING]
        block, rule = cheapest(single or others or [KING]), "single" if single else "no single"
    else:
        own = [block for block, _ in pairs if block == attack]
        block, rule = (attack, "own kind") if own else (KING, "king")
    left = list(hand)
    left.remove(block)
    best = None
    for new in sorted(new for first, new in pairs if first == block and new != KING):
        worth = (count(left, new), POINTS[new])
        if best is None or worth > (count(left, best), POINTS[best]):
            best = new
    return actions.encode(block, KING if best is None else best), rule


@pytest.mark.parametrize("name", only(RULE_SETS, "nine"))
def test_greedy_follows_its_six_rules_in_thousands_of_decisions(name):
    greedy, draws, seen = load_agent("greedy"), np.random.default_rng(0), {}
    env = GoitaVectorEnv(128, rules=name, seed=3, observe=False)
    turn = env.reset()
    for _ in range(50):
        view, legal = turn.view, turn.action_mask
        chosen = greedy.act(view, legal, draws)
        fields = zip(view.hand, view.attack, view.attacker, legal, chosen, strict=True)
        for counts, attack, attacker, mask, action in fields:
            hand = [kind for kind in range(8) for _ in range(counts[kind])]
            wanted, rule = by_the_rules(
                env._match.rules, hand, set(np.flatnonzero(mask)), attack, attacker
            )
            assert action == wanted, (rule, hand, attack, attacker)
            seen[rule] = seen.get(rule, 0) + 1
        mixed = np.where(draws.random(128) < 0.7, chosen, env.sample_legal(draws))
        turn = env.step(mixed)
    every = {"call", "continue", "redeal", "last", "partner's last", "partner's attack"}
    every |= {"single", "no single", "own kind", "king", "must pass"}
    if env._match.rules.is_small:  # no special hands, and mini_3 has no king
        every -= {"call", "continue", "redeal"} | ({"king"} if name == "mini_3" else set())
    assert set(seen) == every
    assert min(seen.values()) >= 5, seen
