"""The information options: values that are checked and go through JSON."""

import json

import pytest

from goita_env import InformationStructure, MessageChannel
from goita_env.errors import SettingError
from goita_env.information import PLAIN, check_information
from raising import refuses

EVERY = [
    InformationStructure(shown, channel)
    for shown in (None, "partner", "all")
    for channel in (
        None,
        MessageChannel(1),
        MessageChannel(2, "all"),
        MessageChannel(3, "partner", cost=20),
    )
]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"bits": 0}, "from 1 to 3 as bits of a message channel, got 0"),
        ({"bits": 4}, "got 4"),
        ({"bits": 2.0}, "got 2.0"),
        ({"bits": 1, "audience": "opponents"}, "an audience of .* got 'opponents'"),
        ({"bits": 1, "cost": -10}, "from 0 to 1000 as cost of a message channel, got -10"),
        ({"bits": 1, "cost": 1001}, "got 1001"),
    ],
)
def test_a_message_channel_refuses_what_is_no_value_of_a_field(fields, words):
    refuses(SettingError, words, MessageChannel, **fields)


def test_information_refuses_what_is_no_value_of_a_field():
    refuses(SettingError, "shown of .* got 'opponents'", InformationStructure, shown="opponents")
    refuses(SettingError, "a MessageChannel or None .* got 2", InformationStructure, channel=2)
    refuses(
        SettingError, "an InformationStructure value, got 'partner'", check_information, "partner"
    )


@pytest.mark.parametrize("one", EVERY)
def test_the_options_go_through_the_keys_of_a_json_object(one):
    keys = json.loads(json.dumps(one.to_keys()))
    assert InformationStructure.from_keys(keys) == one
    assert (keys == {}) == (one == PLAIN)
    assert hash(InformationStructure.from_keys(keys)) == hash(one)


def test_keys_that_stand_for_no_options_are_refused():
    for table in (
        *(3, [], "partner"),
        {"shwon": "all"},
        {"shown": ["all"]},
        {"token": 2},
        {"token": {}},
        {"token": {"audience": "all"}},
        {"token": {"bits": "2"}},
        {"token": {"bits": 2, "price": 10}},
    ):
        refuses(SettingError, "expected", InformationStructure.from_keys, {"information": table})
