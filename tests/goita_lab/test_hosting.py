"""A bot on another machine, behind ssh, plays as it does here."""

import os
import sys

import pytest

from goita_env.rules import JGA
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import Task

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as bots need POSIX")

BOT = "population:offbelief-0"


def test_a_bot_behind_ssh_plays_as_it_does_here(tmp_path):
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nshift\nexec "$@"\n')  # drops the host's name
    ssh.chmod(0o755)
    one_seat = ((0, 1, 1, 1),)  # a process for each seat would take longer
    here = play_block(Task((BOT, "random"), 3, 0, 0, 3, JGA, seatings=one_seat))
    program = f"exec:[ms=60000]{ssh} HOST {sys.executable} -m goita_lab bot {BOT}"
    there = play_block(Task((program, "random"), 3, 0, 0, 3, JGA, seatings=one_seat))
    assert there.faults == ()
    assert (there.points == here.points).all()
