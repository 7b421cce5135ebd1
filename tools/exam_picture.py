"""Draws the position of the exam on docs/exam.md: ``python tools/exam_picture.py``.

Below the board are the points of each action, and the exact belief of the acting seat: for each
other hand and each kind, the probability that the hand holds a tile of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from goita_env.render import svg
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_lab.exam.questions import Questions
from goita_lab.pages.languages import seen_from

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "pictures"
POSITION: Final = 400
WIDTH: Final = 480
"""Width at which the page shows the board."""


def main() -> None:
    question = Questions.load().select(np.array([POSITION]))
    view = question.view()
    scene = seen_from(view.scene(0), 0)
    belief = np.zeros((NUM_SEATS, NUM_KINDS, 2))
    belief[1:, :, 1] = question.exact[0]  # the acting seat, in row 0, has no belief about itself
    belief[1:, :, 0] = 1 - belief[1:, :, 1]
    for theme in ("light", "dark"):
        text = svg.render(
            scene,
            theme=theme,
            values=question.points[0],
            belief=belief,
            marked={"best": int(question.best[0])},
            size=WIDTH,
        )
        (FOLDER / f"exam-{theme}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
