"""Draws how a belief narrows during a round: ``python tools/belief_picture.py``.

It is the round of docs/tutorials/partners_pass.md, as seat 0 observes it. Two listeners model all
other seats: one as `heuristic`, which really plays, the other as uniformly random.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from goita_agents.beliefs import follow
from goita_agents.files import write_whole
from goita_agents.models import UNIFORM_MODEL, PolicyModel
from goita_env import actions, records
from goita_env.tiles import KING

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from research.drawing import THEMES, steps  # noqa: E402  (after the path)

PAGE: Final = ROOT / "docs" / "tutorials" / "partners_pass.md"
PICTURES: Final = ROOT / "docs" / "pictures"
MODELS: Final = {
    "model: heuristic, the true policy": PolicyModel("heuristic"),
    "model: uniformly random": UNIFORM_MODEL,
}


def main() -> None:
    written = re.search(r"text = \(\n(.*?)\n\)", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert written is not None
    record = "".join(re.findall(r'"(.*)"', written[1]))
    deal = records.history.loads(record).deals[0]
    entropy: dict[str, list[float]] = {}
    king: dict[str, list[float]] = {}
    ticks: list[str] = []
    for name, model in MODELS.items():
        entropy[name], king[name], ticks = [], [], []
        for game, listener in follow(deal, 0, model):
            seat, action = game.moves[-1]
            belief = listener.posterior("partner")
            entropy[name].append(belief.entropy())
            king[name].append(float(belief.at_least(1)[KING]))
            ticks.append(f"{seat}\n{actions.name(action).replace('p', 'pass')}")
    panels = {"uncertainty, nats": entropy, "probability of a king": king}
    for theme, colors in THEMES.items():
        picture = steps(panels, "seat that moved, and its action", ticks, colors)
        write_whole(PICTURES / f"belief-{theme}.svg", picture)


if __name__ == "__main__":
    main()
