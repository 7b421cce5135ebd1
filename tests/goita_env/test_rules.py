"""Rule sets as values: every field is checked, and one of your own goes through JSON and files."""

import json
from dataclasses import asdict, replace

import pytest

from goita_env import JGA, NINE, PAGAT, Game, GoitaVectorEnv, Rules
from goita_env.errors import SettingError
from goita_env.rules import read_rules
from raising import refuses

MINE = Rules(
    name="mine", call_five="duty", last_king=False, opponents_fives="redeal", match_points=100
)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"call_five": "dutty"}, "expected 'choice' or 'duty' as call_five .*'mine', got 'dutty'"),
        ({"last_king": 1}, "expected True or False as last_king .* got 1"),
        ({"partners_fives_win": ["held"]}, r"partners_fives_win .* got \['held'\]"),
        ({"opponents_fives": "both partners choose"}, "'choice' or 'redeal' as opponents_fives"),
        *(
            ({"match_points": total}, "expected a multiple of ten from 10 to 150 as match_points")
            for total in (0, 155, 160, 100.0, True)
        ),
        ({"name": ""}, "expected a text as name"),
    ],
)
def test_a_rule_set_refuses_what_is_no_value_of_a_field(fields, words):
    refuses(SettingError, words, Rules, **{"name": "mine"} | fields)


def test_the_name_of_a_text_comes_with_its_fields_alone():
    for rules in (JGA, PAGAT, NINE):
        assert Rules(**asdict(rules)) == rules
        with pytest.raises(SettingError, match=f"last_king of the rule set '{rules.name}'"):
            replace(rules, last_king=not rules.last_king)
    refuses(SettingError, r"expected 'duty' as call_five .* or another name", Rules, name="pagat")


def test_a_rule_set_goes_through_the_keys_of_a_json_object():
    for rules in (JGA, PAGAT, NINE, MINE):
        keys = json.loads(json.dumps(rules.to_keys()))
        assert Rules.from_keys(keys) == rules
        assert ("rules_fields" in keys) == (rules == MINE)
    for keys in (
        {},
        {"rules": "mine"},
        {"rules": "mine", "rules_fields": 3},
        {"rules": "mine", "rules_fields": {"first_king": True}},
        {"rules": "mine", "rules_fields": {"match_points": 155}},
        {"rules": None, "rules_fields": {}},
    ):
        refuses(SettingError, "expected", Rules.from_keys, keys)


def test_a_command_line_names_a_rule_set_or_the_file_of_one(tmp_path):
    file = tmp_path / "my_rules.json"
    file.write_text(json.dumps(asdict(MINE)))
    assert read_rules(str(file)) == MINE
    file.write_text('{"name": "mine", "last_king": false}')
    assert read_rules(str(file)) == Rules(name="mine", last_king=False)
    assert read_rules("nine") is NINE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "my_rules.json': Expecting"),
        ("[1]", r"my_rules.json: expected a table of fields with a 'name', got \[1\]"),
        ('{"name": "mine", "king": true}', r"expected fields of .*'last_king'.*, got \['king'\]"),
        ('{"name": "mine", "last_king": "no"}', "my_rules.json: expected True or False as"),
        ('{"name": "jga", "last_king": false}', "or another name"),
    ],
)
def test_a_file_that_holds_no_rule_set_is_refused_by_its_name(tmp_path, text, words):
    file = tmp_path / "my_rules.json"
    file.write_text(text)
    refuses(SettingError, words, read_rules, str(file))
    refuses(SettingError, r"nothing\.json", read_rules, str(tmp_path / "nothing.json"))
    refuses(SettingError, r"'chess'; a file's name ends in \.json", read_rules, "chess")


@pytest.mark.parametrize(
    "make", [Game, lambda rules, **given: GoitaVectorEnv(2, rules).reset(**given)]
)
def test_scores_before_a_round_are_below_the_total(make):
    assert make(MINE, scores=[90, 0])
    refuses(SettingError, r"tens|ten from 0 to 90, got \[\[100, 0\]", make, MINE, scores=[100, 0])
