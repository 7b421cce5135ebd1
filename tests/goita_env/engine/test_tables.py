"""The rules as tables: the scalar rules read out, their expansion, and pinned checksums."""

import zlib
from dataclasses import fields
from itertools import product

import numpy as np
import pytest

from deals import RULE_SETS
from goita_env import JGA, NINE, PAGAT, Rules, get_rules
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL, SILENT, decode, encode
from goita_env.engine import tables
from goita_env.tiles import COUNTS

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


def checksum(rules):
    """Returns a CRC-32 over all arrays of a rule set's tables."""
    every = vars(tables.tables(rules)).values()
    arrays = [value for value in every if isinstance(value, np.ndarray) and value.ndim]
    return zlib.crc32(b"".join(array.tobytes() for array in arrays))


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_checksums_of_the_three_rule_sets_are_pinned(rules):
    assert checksum(get_rules(rules)) == CHECKSUMS[rules]


def test_actions_are_numbered_as_the_page_says():
    assert (PASS, CALL, SILENT, REDEAL, CONTINUE) == (0, 65, 66, 67, 68)
    for block, attack in product(range(8), range(8)):
        assert encode(block, attack) == 1 + 8 * block + attack
        assert decode(1 + 8 * block + attack) == (block, attack)
    assert [decode(action) for action in (0, 65, 66, 67, 68)] == [None] * 5
