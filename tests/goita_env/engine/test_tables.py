"""The rules as tables: the scalar rules read out, their expansion, and pinned checksums."""

import zlib
from dataclasses import fields
from itertools import product

import numpy as np
import pytest

from deals import RULE_SETS
from goita_env import JGA, NINE, PAGAT, Rules, get_rules
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL, SILENT, decode, encode
from goita_env.engine import core, tables
from goita_env.engine.rulebook import call_points, finish_points, king_may_attack, receives
from goita_env.tiles import COUNTS, KING
from playing import deal, legal_mask

PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK, _ = range(8)

ATTACKS = [*product(range(8), range(4), (False, True))]
"""Kinds, passes since, and whether a king lies face up."""

ALL_TILES = tables.code_of(COUNTS)

CHECKSUMS = {"jga": 3537353929, "pagat": 900007076, "nine": 3773125002}
"""Second source: the oracle, which plays hundreds of thousands of decisions by the same rules."""


def test_the_three_rule_sets_differ_as_the_page_says():
    differ = {
        "call_five": ("choice", "duty", "choice"),
        "call_six_or_more": ("choice", "duty", "duty"),
        "last_king": (True, False, False),
        "second_king_after_own_face_down": (True, False, False),
        "six_alike_doubles": (True, False, True),
        "kings_are_alike": (True, True, False),
        "partners_fives_win": ("called", "called", "held"),
        "opponents_fives": ("choice", "choice", "redeal"),
        "match_points": (150, 150, 150),  # the texts agree; a rule set of one's own may differ
        "deck": (COUNTS, COUNTS, COUNTS),  # likewise
    }
    assert {field.name for field in fields(Rules)} == {"name", *differ}
    for name, values in differ.items():
        assert tuple(getattr(rules, name) for rules in (JGA, PAGAT, NINE)) == values


def test_codes_are_added_like_multisets_of_tiles():
    counts = tables.code_counts()
    assert counts.shape == (tables.NUM_CODES, 8) == (np.prod([n + 1 for n in COUNTS]), 8)
    assert np.array_equal(counts @ np.array(tables.RADIX), np.arange(tables.NUM_CODES))
    assert (counts <= COUNTS).all()
    assert counts[ALL_TILES].tolist() == list(COUNTS)
    assert tables.NUM_CODES <= tables.CODE_MASK
    assert tables.KING_PERMIT & tables.CODE_MASK == 0


def test_every_moment_has_a_status_of_its_own():
    attacks = {tables.attack_status(*attack) for attack in ATTACKS}
    rest = {tables.FRESH, tables.CALL_CHOICE, tables.CALL_DUTY}
    rest |= {tables.CHOOSE, tables.WAITING, tables.OVER}
    assert len(attacks) == 64
    assert sorted(attacks | rest) == list(range(tables.NUM_STATUSES))


def moment(rules, hands, status):
    """Puts hands (codes [N]) in the acting seat at a status."""
    state = core.State.empty(len(hands), rules)
    state.hand[state.clock] = hands
    state.status[:] = status
    # A state finds its open questions when it is made.
    return state.copy()


def plain_legal(rules, counts, permit, attack, passes, king_up):
    """Lists the legal pairs of a seat by the scalar rules; attack None: the dealer's first turn."""
    leads = attack is None or passes == 3
    legal = [] if leads else [PASS]
    kings = king_may_attack(rules, int(counts[KING]), int(counts.sum()), king_up or permit)
    for block, new in product(range(8), range(8)):
        held = counts[block] >= 1 + (block == new) and counts[new] >= 1
        if held and (leads or receives(block, attack)) and (new != KING or kings):
            legal.append(encode(block, new))
    return legal


@pytest.mark.parametrize("rules", [JGA, PAGAT, NINE], ids=RULE_SETS)
def test_legal_actions_are_the_scalar_rules_expanded(rules):
    rng = np.random.default_rng(0)
    counts = tables.code_counts()
    sizes = counts.sum(axis=1)
    moments = [(tables.FRESH, None, 0, False)]
    moments += [(tables.attack_status(*one), *one) for one in ATTACKS]
    checked = 0
    for status, attack, passes, king_up in moments:
        allowed = (8,) if attack is None else (2, 4, 6, 8)
        codes = np.concatenate([rng.choice(np.flatnonzero(sizes == n), 10) for n in allowed])
        kings = rng.choice(np.flatnonzero((counts[:, KING] > 0) & np.isin(sizes, allowed)), 10)
        codes = np.concatenate([codes, kings])
        permits = rng.integers(0, 2, len(codes)).astype(bool)
        mask = legal_mask(moment(rules, codes + permits * tables.KING_PERMIT, status))
        for n, code in enumerate(codes):
            legal = plain_legal(rules, counts[code], permits[n], attack, passes, king_up)
            assert np.flatnonzero(mask[n]).tolist() == legal
            checked += 1
    assert checked > 3_000


@pytest.mark.parametrize("rules", [JGA, PAGAT, NINE], ids=RULE_SETS)
def test_the_answers_to_questions_are_those_of_the_page(rules):
    answers = {tables.CALL_CHOICE: [CALL, SILENT], tables.CALL_DUTY: [CALL]}
    answers |= {tables.CHOOSE: [REDEAL, CONTINUE]}
    for status, legal in answers.items():
        mask = legal_mask(moment(rules, np.array([ALL_TILES]), status))
        assert np.flatnonzero(mask[0]).tolist() == legal
    for status in (tables.WAITING, tables.OVER):
        assert not legal_mask(moment(rules, np.array([0]), status)).any()


@pytest.mark.parametrize("rules", [JGA, PAGAT, NINE], ids=RULE_SETS)
def test_every_last_pair_scores_by_the_scalar_rule(rules):
    finished = 0
    for attack, passes, block, last in product(range(8), range(4), range(8), range(8)):
        hand = np.array([(tables.RADIX[block] + tables.RADIX[last]) | tables.KING_PERMIT])
        state = moment(rules, hand, tables.attack_status(attack, passes, True))
        action = encode(block, last)
        if legal_mask(state)[0, action]:
            core.step(state, np.array([action]))
            assert state.status[0] == tables.OVER
            assert state.points[0] == finish_points(rules, block, last, passes == 3)
            finished += 1
    # Every pair where the seat leads; else a block of the kind, or a king against five kinds.
    assert finished == 8 * 64 + 3 * 8 * (1 + 1 + 5 * 2)


@pytest.mark.parametrize("rules", [JGA, PAGAT, NINE], ids=RULE_SETS)
def test_every_called_hand_of_six_or_more_scores_by_the_scalar_rule(rules):
    rests = [(), *((n,) for n in range(1, 8))]
    rests += [(n, m) for n in range(1, 8) for m in range(n, 8)]
    assert len(rests) == 36
    for rest in rests:
        tiles = [PAWN] * (8 - len(rest)) + list(rest)
        others = [kind for kind in range(8) for _ in range(COUNTS[kind] - tiles.count(kind))]
        others = np.random.default_rng(0).permutation(others).reshape(3, 8)
        state = deal(rules, np.concatenate([[tiles], others])[None], [0])
        core.step(state, np.array([CALL]))
        assert state.points[0] == call_points(rules, 8 - len(rest), rest)
        assert state.winner[0] == 0
        shown = tables.code_counts()[state.up[0]]
        assert shown.tolist() == [tiles.count(kind) for kind in range(8)]


def checksum(rules):
    """Returns a CRC-32 over all arrays of a rule set's tables."""
    every = vars(tables.tables(rules)).values()
    arrays = [value for value in every if isinstance(value, np.ndarray) and value.ndim]
    return zlib.crc32(b"".join(array.tobytes() for array in arrays))


def test_tables_are_built_once_for_each_value_of_the_rules():
    assert tables.tables(JGA) is tables.tables(Rules(name="jga"))
    assert tables.tables(JGA) is not tables.tables(PAGAT)
    for number in range(2):
        assert core.State.empty(number + 1, "jga").tables is tables.tables(JGA)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_checksums_of_the_three_rule_sets_are_pinned(rules):
    assert checksum(get_rules(rules)) == CHECKSUMS[rules]


def test_actions_are_numbered_as_the_page_says():
    assert (PASS, CALL, SILENT, REDEAL, CONTINUE) == (0, 65, 66, 67, 68)
    for block, attack in product(range(8), range(8)):
        assert encode(block, attack) == 1 + 8 * block + attack
        assert decode(1 + 8 * block + attack) == (block, attack)
    assert [decode(action) for action in (0, 65, 66, 67, 68)] == [None] * 5
