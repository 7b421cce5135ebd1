"""Makes scenes for a player: what its seat sees, and the open table once a round is over."""

from __future__ import annotations

from dataclasses import replace

from agents.play import sentences
from agents.play.table import Table
from goita_env.render import scene
from goita_env.render.scene import Scene


def seen(table: Table) -> Scene:
    """Returns what the player's seat may know of the present deal."""
    return scene.of_view(table.view)


def opened(table: Table) -> Scene:
    """Returns the last round at its end, all hands open, with the names of the player's view.

    Raises:
        EpisodeOverError: if no round is over.
    """
    over = table.ended()
    shown = scene.of_table(over._state, viewer=table.seat)
    winner, points = table.results[-1]
    own, other = table.scores
    return replace(
        shown,
        places=tuple(
            replace(place, name=name)
            for place, name in zip(shown.places, sentences.PLACES, strict=True)
        ),
        scores=(("you and partner", own), ("the others", other)),
        bottom_team=0,
        template=sentences.end(winner, points, table.seat),
    )
