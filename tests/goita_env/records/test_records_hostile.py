"""Records from others: long, deep or odd texts are refused at once, and what is written is text."""

import json

import pytest

from goita_env import errors
from goita_env.records import Record, building, complete, history, kifu
from goita_env.rules import read_rules
from raising import refuses
from record_samples import LINE, YAML, message

LONE = "a\udc80"
"""A name with half of a surrogate pair, alone, which UTF-8 cannot write."""

HEAD = json.loads(complete.dumps(history.loads(LINE)))


def changed(**keys):
    return json.dumps(HEAD | keys)


def deal(**keys):
    return changed(deals=[HEAD["deals"][0] | keys])


@pytest.mark.parametrize(("notation", "text"), [(history, LINE), (kifu, YAML), (complete, "{}")])
def test_a_longer_text_than_the_limit_is_refused_unread(notation, text, monkeypatch):
    assert notation.MAX_CHARACTERS <= 10**7
    monkeypatch.setattr(notation, "MAX_CHARACTERS", len(text))
    refuses(errors.RecordError, "expected at most", notation.loads, text + " ")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("notation", "text"),
    [
        (history, "x\n" * 11),
        (kifu, "log: [" + "1," * 11 + "]"),
        (complete, changed(deals=[0] * 11)),
    ],
)
def test_more_deals_than_the_limit_are_refused_unread(notation, text, strict, monkeypatch):
    monkeypatch.setattr(building, "MAX_DEALS", 10)
    found = message(notation.loads, text, strict=strict, source="file")
    assert found == "file: expected at most 10 deals, got 11"


LONG = [
    (history, LINE[:38] + ",1p" * 10**5),
    (complete, deal(moves=["0:p"] * 10**5)),
    (kifu, YAML.split("   game:")[0] + "   game:\n" + '    - ["2","銀","角"]\n' * 200),
]


@pytest.mark.parametrize(("notation", "text"), LONG)
def test_a_deal_of_more_moves_than_any_has_is_refused_or_cut(notation, text):
    assert "move 201" in message(notation.loads, text)
    assert "expected at most 200 moves, got more" in message(notation.loads, text)
    record = notation.loads(text, strict=False)
    assert len(record.deals[0].moves) <= 200
    assert len(record.problems) == 1


def test_an_alias_of_yaml_is_refused_wherever_it_stands():
    laughs = "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nlog: [*c, *c]\n"
    assert "alias" in message(kifu.loads, laughs)
    assert "alias" in message(kifu.loads, YAML + "more: &m 1\nagain: *m\n")
    assert "alias" in message(kifu.loads, "&a {? *a : 1}")


def test_names_that_no_file_can_hold_are_refused():
    with pytest.raises(errors.SettingError, match=r"names that UTF-8 can write, got 'a\\udc80'"):
        Record((), (LONE, "", "", ""))
    text = changed(players=[LONE, "", "", ""])
    assert "\\udc80" in text  # valid JSON
    assert "names that UTF-8 can write" in message(complete.loads, text, source="file")
    escaped = YAML.replace('"north"', '"\\uDC80"')
    assert "names that UTF-8 can write" in message(kifu.loads, escaped, strict=False)
    assert "unacceptable character" in message(kifu.loads, YAML.replace("north", LONE))


def test_what_is_written_beside_a_record_is_text_whatever_it_holds():
    beside = {"agents": [LONE, "王"], LONE: 1}
    written = complete.dumps(Record(), beside).encode()
    assert {key: json.loads(written)[key] for key in beside} == beside
    assert "王".encode() in written
    assert complete.loads(written.decode()) == Record()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" " * 200_000, "at most 100000 characters"),
        ("[" * 50_000, "expected a JSON file"),
        ('{"name": "\\udc80"}', "UTF-8 can write"),
    ],
)
def test_a_file_of_rules_is_read_with_the_same_care(text, words, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    refuses(errors.SettingError, words, read_rules, str(path))
