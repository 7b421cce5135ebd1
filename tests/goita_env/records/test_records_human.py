"""Human game records as a rules oracle: the YAML kifu in the folder that GOITA_KIFU names.

``human_files.txt`` lists known files, each with the CRC-32 of its bytes. Where they lie in the
folder they must be sound, but for the places named here. Any other file may be unsound: it is
checked for consistency alone.
"""

import os
import zlib
from functools import cache
from pathlib import Path

import pytest

from goita_env import records
from goita_env.errors import RecordError
from goita_env.records import Record

FOLDER = os.environ.get("GOITA_KIFU")
pytestmark = pytest.mark.skipif(not FOLDER, reason="GOITA_KIFU names no folder of kifu")

KNOWN = dict(map(str.split, Path(__file__).with_name("human_files.txt").read_text().splitlines()))
"""CRC-32 of the known files, by name."""

UNSOUND = {
    ("010.yaml", 1, 2): "expected a move of seat 3, got the end of the deal",
    ("030.yaml", 4, 1): "expected a move of seat 2, got '13' of seat 1",
    ("040.yaml", 5, 1): "expected one of 11 12 13 14 15 21 23 24 25 31 32 34 35 41 42 43 45 51 52 "
    "53 54 from seat 1, got '57'",
}
"""What is wrong in these files, by file, deal and move."""

EDITED_BY_HAND = ["042.yaml", "108.yaml"]
"""Comment lines and hands in another order: the deals are the same, the text is not."""


@cache
def human_records() -> dict[str, tuple[str, Record]]:
    """Text and record of every file of the folder, by file name."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(FOLDER).glob("*.yaml")}
    assert texts, f"expected YAML kifu in {FOLDER}"
    return {
        name: (text, records.kifu.loads(text, strict=False, source=name))
        for name, text in sorted(texts.items())
    }


def known_records() -> dict[str, tuple[str, Record]]:
    """Those of them that are known, and unchanged; skips the test where the folder has none."""
    known = {
        name: (text, record)
        for name, (text, record) in human_records().items()
        if KNOWN.get(name) == f"{zlib.crc32(text.encode()):08x}"
    }
    if not known:
        pytest.skip(f"none of the known records is in {FOLDER}")
    return known


def test_what_is_unsound_in_the_known_records_is_reported_by_file_deal_and_move():
    known = known_records()
    found = {
        (problem.source, problem.deal, problem.move): problem.message
        for _, record in known.values()
        for problem in record.problems
    }
    assert found == {place: what for place, what in UNSOUND.items() if place[0] in known}


def test_a_lenient_reader_and_a_check_report_the_same_problems():
    # All that are unsound, and some of the others: each is read once more.
    for number, (name, (text, record)) in enumerate(human_records().items()):
        if number % 4 and not record.problems:
            continue
        expected = [str(problem) for problem in record.problems]
        try:
            found = [*map(str, records.check(records.kifu.loads(text, source=name)))]
        except RecordError as error:  # a strict reader stops at the first deal that is malformed
            found, expected = [str(error)], [one for one in expected if one == str(error)]
        assert found == expected, name


def test_the_kept_part_of_every_record_replays_and_breaks_off_at_problems_alone():
    for _, record in human_records().values():
        broken = {problem.deal for problem in record.problems}
        for deal, result in zip(record.deals, record.results(), strict=True):
            assert result.finished or deal.number in broken, (record.source, deal.number)


def test_every_sound_deal_of_the_known_records_leads_to_the_next_ones_scores_and_dealer():
    for _, record in known_records().values():
        broken = {problem.deal for problem in record.problems}
        results = record.results()
        for deal, result, after in zip(record.deals, results, record.deals[1:], strict=False):
            if deal.number not in broken:
                # A special hand would leave a gap here; none did in these files.
                assert after.scores == result.scores, (record.source, after.number)
                assert after.dealer == result.winner, (record.source, after.number)


def test_every_record_comes_back_from_both_notations():
    for name, (_, record) in human_records().items():
        again = records.kifu.loads(records.kifu.dumps(record))
        assert [deal.moves for deal in again.deals] == [deal.moves for deal in record.deals], name
        assert again.players == record.players
        if record.deals:
            lines = records.history.loads(records.history.dumps(record))
            assert [deal.moves for deal in lines.deals] == [deal.moves for deal in record.deals]


def test_the_known_records_come_back_byte_for_byte():
    known = known_records()
    changed = [
        name
        for name, (text, _) in known.items()
        if records.kifu.dumps(records.kifu.loads(text)) != text.removeprefix("\ufeff")
    ]
    assert changed == [name for name in EDITED_BY_HAND if name in known]
