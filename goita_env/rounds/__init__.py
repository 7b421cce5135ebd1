"""Lets agents play: ``Rounds``, N rounds or matches side by side.

::

    rounds = Rounds(1000, seed=0)
    tick = rounds.tick
    while not rounds.over:
        actions = agent.act(tick.view, tick.legal, rng) if len(tick.rows) else []
        tick = rounds.step(actions)
        if tick.ended is not None:
            print(tick.ended.rows, tick.ended.points, tick.ended.winner)

In a *tick* every game makes one decision. Those with a single legal action are made unasked; the
others are asked together, games in ascending order. Where only some of them are answered, the
others wait, and the rest plays on; what they were asked was told by the tick that asked it.
"""

from goita_env.engine.match import EPISODES, Episode
from goita_env.rounds.playing import Rounds
from goita_env.rounds.ticks import Dealt, Ended, Made, Tick

__all__ = ["EPISODES", "Dealt", "Ended", "Episode", "Made", "Rounds", "Tick"]
