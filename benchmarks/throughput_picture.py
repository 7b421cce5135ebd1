"""Draws the speed of environments as bars: ``python benchmarks/throughput_picture.py``.

It reads the stored result of ``make bench``. A bar is the median of the passes, a line their range.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from goita_agents.files import write_whole

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from research.drawing import THEMES, bars  # noqa: E402  (after the path)

RESULT: Final = ROOT / "benchmarks" / "results" / "throughput.json"
PICTURES: Final = ROOT / "docs" / "pictures"
ROWS: Final = {
    "GoitaVectorEnv N=4,096 mask + observation": "Goita, batch of 4,096",
    "GoitaVectorEnv N=1,024 mask + observation": "Goita, batch of 1,024",
    "GoitaVectorEnv N=64 mask + observation": "Goita, batch of 64",
    "OpenSpiel spades": "OpenSpiel spades, Python loop",
    "OpenSpiel bridge": "OpenSpiel bridge, Python loop",
    "goita_v0.env()": "Goita, PettingZoo, one game",
    "PettingZoo hanabi_v5": "Hanabi, PettingZoo, one game",
}
"""Names in the result, and those in the picture."""


def main() -> None:
    rates = json.loads(RESULT.read_text(encoding="utf-8"))["rates"]
    rows = {
        name: tuple(rates[key][part] for part in ("steps_per_second", "least", "greatest"))
        for key, name in ROWS.items()
    }
    for theme, colors in THEMES.items():
        picture = bars(rows, "steps a second on one core (logarithmic)", colors)
        write_whole(PICTURES / f"speed-{theme}.svg", picture)


if __name__ == "__main__":
    main()
