"""Human game records as a rules oracle: the YAML kifu in the folder that GOITA_KIFU names."""

import os
from functools import cache
from pathlib import Path

import pytest

from goita_env import records
from goita_env.records import Record

FOLDER = os.environ.get("GOITA_KIFU")
pytestmark = pytest.mark.skipif(not FOLDER, reason="GOITA_KIFU names no folder of kifu")

EDITED_BY_HAND = ["042.yaml", "108.yaml"]
"""Comment lines and hands in another order: the deals are the same, the text is not."""

UNSOUND = [
    "010.yaml: deal 1, move 2 (play 2): expected a move of seat 3, got the end of the deal",
    "030.yaml: deal 4, move 1 (play 1): expected a move of seat 2, got '13' of seat 1",
    "040.yaml: deal 5, move 1 (play 1): expected one of 11 12 13 14 15 21 23 24 25 31 32 34 35 41 "
    "42 43 45 51 52 53 54 from seat 1, got '57'",
]


@cache
def human_records() -> dict[str, tuple[str, Record]]:
    """Text and record of every file of the folder, by file name."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(FOLDER).glob("*.yaml")}
    assert len(texts) >= 60
    return {
        name: (text, records.kifu.loads(text, strict=False, source=name))
        for name, text in sorted(texts.items())
    }


def test_the_unsound_human_records_are_reported_by_file_deal_and_move():
    problems = [str(p) for _, record in human_records().values() for p in record.problems]
    checked = [
        str(problem)
        for name, (text, _) in human_records().items()
        for problem in records.check(records.kifu.loads(text, source=name))
    ]

    assert problems == UNSOUND
    assert checked == UNSOUND


def test_every_sound_human_record_replays_with_its_scores_and_dealers():
    deals = 0
    for _, record in human_records().values():
        results = record.results()
        broken = {problem.deal for problem in record.problems}
        for deal, result, after in zip(record.deals, results, record.deals[1:], strict=False):
            deals += 1
            if deal.number not in broken:
                # A special hand would leave a gap here; none did in these files.
                assert after.scores == result.scores, (record.source, after.number)
                assert after.dealer == result.winner, (record.source, after.number)
        finished = [result.finished for result in results]
        assert finished == [deal.number not in broken for deal in record.deals]
    assert deals > 70


def test_human_records_come_back_byte_for_byte():
    changed = []
    for name, (text, _) in human_records().items():
        record = records.kifu.loads(text)
        if records.kifu.dumps(record) != text.removeprefix("\ufeff"):
            changed.append(name)
        lines = records.history.loads(records.history.dumps(record))
        assert [deal.moves for deal in lines.deals] == [deal.moves for deal in record.deals]
    assert changed == EDITED_BY_HAND
