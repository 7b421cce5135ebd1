"""Unsound records: each fault raises or is collected with its place, and the rest is read."""

import re
import sys

import pytest

from goita_env import errors, records
from goita_env.records import DealRecord
from raising import refuses
from record_samples import FIVE, LINE, YAML, message, replayed

TOLD = records.complete.dumps(records.history.loads(LINE))
NAMED = TOLD.replace('["", "", "", ""]', '["a\\udc80", "", "", ""]')
PARTS = "expected four hands, s with the dealer's seat, and moves, got '11124559"


@pytest.mark.parametrize(
    ("found", "instead", "place", "expected"),
    [
        (LINE[30:], "", "", PARTS),
        ("11124559", "1112455", "", "expected 8 digits for seat 0, got '1112455'"),
        ("11124559", "1112455x", "", "expected digits 1 to 9 for seat 0, got ['x'] in '1112455x'"),
        ("13445667", "13445889", "", "tiles of the kinds 0..7, got (10, 4, 4, 4, 4, 0, 1, 5)"),
        ("s3", "s5", "", "expected the dealer as s1 to s4, got 's5'"),
        (",374", ",37", ", move 13 (play 9)", "a pass (3p) or a block and an attack (352)"),
        ("483", "583", ", move 2 (play 2)", "expected a move of a seat 1 to 4, got '583'"),
        ("351", "3x1", ", move 9 (play 6)", "a block and an attack (352), got '3x1'"),
        ("4p", "4pp", ", move 6 (play 6)", "got '4pp'"),
    ],
)
def test_a_malformed_history_string_is_named_with_its_place(found, instead, place, expected):
    for before, number in (("", 1), (f"{LINE}\n", 2)):
        text = before + LINE.replace(found, instead, 1)
        error = message(records.history.loads, text, source="game.txt")
        assert error.startswith(f"game.txt: deal {number}{place}: ")
        assert expected in error


@pytest.mark.parametrize(
    ("found", "instead", "place", "expected"),
    [
        ("346", "3p", "move 1 (play 1)", "expected one of 13 14"),
        ("194", "124", "move 3 (play 3)", "from seat 0, got '24'"),
        ("194", "2p", "move 3 (play 3)", "expected a move of seat 0, got 'p' of seat 1"),
        ("336", "331", "move 9 (play 6)", "from seat 2, got '51'"),
        (",374", ",374,4p", "move 14 (play 10)", "expected no move after the end (seat 2 ended"),
    ],
)
def test_an_illegal_move_is_named_with_its_deal_and_what_was_expected(
    found, instead, place, expected
):
    record = records.history.loads(f"{LINE}\n{LINE.replace(found, instead, 1)}", source="a.txt")
    text = message(replayed, record)
    assert text.startswith(f"a.txt: deal 2, {place}: ")
    assert expected in text
    assert [str(problem) for problem in records.check(record)] == [text]


NOTHING = [
    *((records.history, text, "expected a deal in each line, got no line") for text in ("", " \n")),
    (records.complete, "[]", "expected a record with format"),
    (records.complete, "[" * 100_000, "expected JSON"),
    (records.complete, NAMED, "names that UTF-8 can write, got 'a\\udc80'"),
]
BAD_YAML = [
    ("", "expected version, p0 to p3 and log, got None"),
    ("log: \x00", "expected YAML, got: unacceptable character"),
    ("log: !!python/object/apply:os.system ls", "expected log, a list of deals, got 'ls'"),
    (f"%YAML 1.{'9' * 5000}\n---\nlog:", "expected YAML, got: "),
    ("log: []\n---\nlog: []", "expected YAML, got: expected a single document in the stream"),
    ("&a [*a]", "expected plain YAML, got an alias"),
    ("[" * 100_000, "expected YAML, got: maximum recursion depth exceeded"),
    ("a: &a [x]\nlog: [*a, *a]", "expected plain YAML, got an alias"),
    (YAML.replace('"north"', '"\\uDC80"'), "names that UTF-8 can write"),
    (b"log:", "expected a text, got b'log:'"),
    ("p0: a", "expected log, a list of deals, got ['p0']"),
    ("version: 2.0\nlog:", "expected version 1.0, got '2.0'"),
    ("p0: [a]\nlog:", "expected the name p0, got ['a']"),
]


NOTHING += [(records.kifu, text, expected) for text, expected in BAD_YAML]


@pytest.mark.parametrize(("notation", "text", "expected"), NOTHING)
@pytest.mark.parametrize("strict", [True, False])
def test_what_is_no_record_at_all_is_refused(notation, text, expected, strict):
    found = message(notation.loads, text, strict=strict, source="file")
    assert found.startswith("file: ")
    assert expected in found


@pytest.mark.parametrize("notation", [records.history, records.kifu, records.complete])
def test_a_longer_text_than_the_limit_is_refused_unread(notation):
    text = "a" * 10_000_001
    assert message(notation.loads, text).startswith("expected at most 10000000 characters, got 1")


@pytest.mark.parametrize(
    ("found", "instead", "expected"),
    [
        (" - hand:", " - 3\n - hand:", "a deal with hand, uchidashi, score and game, got '3'"),
        ('     p3: "ししし', '     p4: "ししし', "expected hand with the tiles of p0 to p3, got {"),
        ('"ししし玉', '"しししあ', "for p0, got 'あ' in 'しししあ金金銀香'"),
        ('"ししし玉', '"しし玉', "expected 8 digits for seat 0, got '1195542'"),
        ('"ししし玉', '"し王玉玉', "tiles of the kinds 0..7, got (8, 4, 4, 4, 4, 2, 2, 4)"),
        ("uchidashi: 2", "uchidashi: 4", "expected uchidashi, the dealer's seat 0 to 3, got '4'"),
    ],
)
def test_a_malformed_deal_of_a_yaml_kifu_is_named_and_the_rest_read(found, instead, expected):
    text = YAML.replace(found, instead, 1) + YAML.split("log:\n")[1]
    first = message(records.kifu.loads, text)
    record = records.kifu.loads(text, strict=False)
    assert first.startswith("deal 1: ")
    assert expected in first
    assert [str(problem) for problem in record.problems] == [first]
    # "- 3" stands before the deal, all other faults in its place.
    assert [deal.number for deal in record.deals] == ([2, 3] if "- 3" in instead else [2])
    assert len(replayed(record)) == 13 * len(record.deals)


@pytest.mark.parametrize(
    ("found", "instead", "place", "expected"),
    [
        ('["3","王","馬"]', '["4","王","馬"]', "move 2 (play 2)", "a seat 0 to 3, got '4'"),
        ('["3","王","馬"]', '["3","王"]', "move 2 (play 2)", "expected a seat, a block and an"),
        ('["2","金","し"]', '["2","金",""]', "move 6 (play 6)", "expected a tile, got '' in"),
        ('["2","金","し"]', '["2",[し],し]', "move 6 (play 6)", "expected a tile, got ['し'] in"),
        (
            "game:",
            "game: 3\n   more:",
            "move 1 (play 1)",
            "expected game, a list of plays, got '3'",
        ),
    ],
)
def test_a_malformed_row_of_a_yaml_kifu_is_named_and_the_rows_before_it_kept(
    found, instead, place, expected
):
    text = YAML.replace(found, instead, 1)
    first = message(records.kifu.loads, text, source="a.yaml")
    record = records.kifu.loads(text, strict=False, source="a.yaml")
    assert first.startswith(f"a.yaml: deal 1, {place}: ")
    assert expected in first
    assert [str(problem) for problem in record.problems] == [first]
    assert len(replayed(record)) == record.problems[0].move - 1
    assert records.check(record) == list(record.problems)


BAD_SCORES = [(records.kifu, one) for one in ("[0]", "[0,x]", "[150,60]", "[5,0]", "", "{a: b}")]
BAD_SCORES += [(records.complete, one) for one in ("[0]", "[150, 60]", "[0.5, 0]", "null")]


@pytest.mark.parametrize(("notation", "score"), BAD_SCORES)
@pytest.mark.parametrize("strict", [True, False])
def test_scores_that_no_deal_begins_with_cost_no_deal_and_are_noted(notation, score, strict):
    text = {records.kifu: YAML, records.complete: TOLD}[notation]
    text = text.replace("[0,0]", score).replace("[0, 0]", score)
    record = notation.loads(text, strict=strict, source="a.yaml")
    (deal,) = record.deals
    assert (deal.scores, record.problems) == ((0, 0), ())
    (note,) = record.notes
    assert re.match("a.yaml: deal 1: expected scores?, points of two teams before the deal", note)
    assert note.endswith("taken for 0:0")


def test_quotes_make_no_difference_to_a_yaml_kifu():
    bare = re.sub(r'"(.*?)"', r"\1", YAML)
    quoted = (
        YAML.replace("[0,0]", '["0","0"]').replace("chi: 2", 'chi: "2"').replace("1.0", "'1.0'")
    )
    assert records.kifu.loads(bare) == records.kifu.loads(quoted) == records.kifu.loads(YAML)
    named = YAML.replace('"north"', "0123").replace('"east"', "no").replace('"south"', "1e3")
    assert records.kifu.loads(named).players == ("0123", "no", "1e3", "west")
    assert records.kifu.loads(YAML).notes == ()


@pytest.mark.parametrize(
    ("error", "expected", "fields"),
    [
        (errors.HandsError, "expected hands as 4 strings", {"hands": None}),
        (errors.SettingError, "expected dealers of seats 0..3, got", {"dealer": 4}),
        (errors.SettingError, "expected the points of two teams", {"scores": (0,)}),
        (errors.SettingError, "expected a seat 0..3 and its action", {"moves": ((4, 0),)}),
        (errors.ActionError, "expected an action 0..68, got 69", {"moves": ((0, 69),)}),
        (errors.SettingError, "expected a Rules value or one of", {"rules": "chess"}),
    ],
)
def test_a_record_made_by_hand_is_checked(error, expected, fields):
    good = {"hands": FIVE, "dealer": 0}
    refuses(error, re.escape(expected), DealRecord, **good | fields)


def test_without_pyyaml_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    refuses(ImportError, re.escape("pip install -e '.[records]'"), records.kifu.loads, YAML)
    assert records.kifu.dumps(records.history.loads(LINE))
