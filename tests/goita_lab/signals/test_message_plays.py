"""Plays, logs and measures at tables with messages: what messages tell, and to whom."""

import json
from dataclasses import replace

import numpy as np
import pytest

from belief_worlds import TellsKings
from goita_agents.base import AgentError
from goita_agents.beliefs import PolicyModel
from goita_env import InformationStructure, MessageChannel
from goita_env.actions import CALL, MESSAGE
from goita_env.errors import SettingError
from goita_env.tiles import KING, PARTNER
from goita_lab.commands.signals import main
from goita_lab.signals import log, measures
from goita_lab.signals.filters import select
from goita_lab.signals.listening import listen
from goita_lab.signals.playing import Play, play, positions
from programs import refusal
from raising import refuses

PRIVATE, PUBLIC = (
    InformationStructure(channel=MessageChannel(1, audience)) for audience in ("partner", "all")
)
TELLER = "belief_worlds:TellsKings"


@pytest.fixture(scope="module", params=[PRIVATE, PUBLIC], ids=["private", "public"])
def told(request) -> Play:
    return play([TellsKings()], 2, seed=2, information=request.param)


def test_messages_are_the_first_decisions_of_a_deal(told):
    said = select(told, "message")
    assert (told.move[said] < 4).all()
    assert said.sum() == 4 * len(told.round)
    holds = told.hands[told.deal[said], told.seat[said], KING] > 0
    assert np.array_equal(told.action[said], MESSAGE + holds)
    assert np.array_equal(told.view().legal(), told.legal)
    assert told.probabilities.shape == told.legal.shape == (len(told.deal), 77)
    assert np.allclose(told.probabilities.sum(axis=1), 1)


def entropy(share: float) -> float:
    """Returns the entropy in nats of something with a probability."""
    return -sum(p * np.log(p) for p in (share, 1 - share) if p > 0)


def test_the_content_of_a_message_is_that_computed_by_hand(told):
    models = {"policy": PolicyModel(TellsKings(), epsilon=0)}
    heard, known = listen(told, models, listeners=range(4), where="message", knowledge=False)
    assert len(known.row) == 0
    assert len(heard.row) == 12 * len(told.round)
    private, first = told.information == PRIVATE, 0
    values = (each[:, 0] for each in (heard.content, heard.revealed, heard.gain))
    for row, seat, turn, *found in zip(
        heard.row, heard.listener, heard.speaker, *values, strict=True
    ):
        if private and turn != PARTNER:
            assert found == [0, 0, 0]
        elif told.move[row] == 0:
            # The dealer holds one of the kings that the listener doesn't see, or none.
            kings = 2 - int(told.hands[told.deal[row], seat, KING])
            share = {0: 0.0, 1: 8 / 24, 2: 1 - (16 * 15) / (24 * 23)}[kings]
            says = share if told.action[row] > MESSAGE else 1 - share
            assert np.allclose(found, [entropy(share), -np.log(says), -np.log(says)])
            first += 1
    assert first == len(told.round) * (1 if private else 3)


def test_messages_tell_partners_more_than_opponents_where_they_are_private():
    made, models = play([TellsKings()], 4, seed=3, information=PRIVATE), {}
    models["policy"] = PolicyModel(TellsKings(), epsilon=0)
    heard, _ = listen(made, models, listeners=range(4), where="message", knowledge=False)
    gap = measures.partner_opponent_gap(made, heard)
    assert gap.opponent.mean == 0 < gap.partner.low
    (everything,) = measures.information_gain(made, heard, by="action")
    assert everything.group == "message"
    assert everything.actions == 4 * len(made.round)


def test_knowledge_at_own_decisions_holds_what_was_heard(told):
    models = {"policy": PolicyModel(TellsKings(), epsilon=0)}
    _, known = listen(told, models, deals=[0], listeners=range(4), revealed=False)
    assert (told.action[known.row] < CALL).all()
    partner = (known.listener + 2) % 4
    holds = told.hands[told.deal[known.row], partner, KING] > 0
    assert np.allclose(known.holds[:, 0, PARTNER - 1, KING], holds)


@pytest.mark.parametrize(
    "information",
    [PRIVATE, InformationStructure("all"), InformationStructure("partner", MessageChannel(3))],
    ids=str,
)
def test_a_log_keeps_messages_and_options(information, tmp_path):
    written = log.write(tmp_path, ["random"], 8, part_rounds=4, information=information)
    assert list(written) == [4, 8]
    made, found = play(["random"], 4, information=information), log.read(tmp_path)
    assert found.information == information
    for name in ("words", "legal", "action"):
        assert np.array_equal(getattr(made, name), getattr(found, name)[: len(made.deal)])
    assert found.words.shape[1] == information.num_words
    plain = log.write(tmp_path, ["random"], 8, part_rounds=4)
    refuses(SettingError, "was begun with: information", list, plain)


def test_the_command_takes_the_options_from_a_file(tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    file, out = tmp_path / "information.json", tmp_path / "log"
    file.write_text(json.dumps(PRIVATE.to_keys()))
    given = ["log", TELLER, "--rounds", "1", "-o", str(out), "--information", str(file)]
    assert main([*given, "--belief", TELLER]) == 0
    assert log.read(out).information == PRIVATE
    frame = pd.read_parquet(out)
    unknown, before_play = frame["log_probability_partner"].isna(), frame["action"] >= CALL
    assert (unknown == before_play).all()
    file.write_text('{"token": 1}')
    assert "base game" in refusal(capsys, main, given)


def test_what_is_measured_in_the_plain_game_alone_refuses_others(told):
    refuses(SettingError, "a play of the base game", positions, told, np.arange(2))
    refuses(AgentError, "play games with .* got 'greedy'", play, ["greedy"], 1, information=PRIVATE)
    plain = replace(told, information=InformationStructure())
    refuses(SettingError, "same agents, game and seed", Play.join, [told, plain])
    shown = play(["random"], 2, information=InformationStructure("partner"))
    models = {"policy": PolicyModel("random")}
    refuses(SettingError, "no tiles of others are shown", listen, shown, models)
