"""Without a terminal the progress of a tournament is a line now and then."""

import re
import time

from agents.tournament import progress
from agents.tournament.arena import Tournament
from agents.tournament.plan import Plan


def test_without_a_terminal_a_line_now_and_then_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.1)
    tournament = Tournament(Plan(("greedy", "random"), deals=64, block_deals=16))
    with progress.ProgressLine(tournament.ledgers) as line:
        time.sleep(0.25)
        tournament.play(progress=line)
        time.sleep(0.25)
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == "0 of 64 deals, 0 rounds/s, time left: not known"
    assert re.fullmatch(r"64 of 64 deals, [\d,]+ rounds/s, time left: 0:00:00", last)
    time.sleep(0.2)
    assert capsys.readouterr().err == ""  # it is over
