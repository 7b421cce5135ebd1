"""Draws docs/pictures/regret-light.svg and -dark.svg: regret over strength in ``mini_3``.

python research/teamwork/regret_picture.py     from the stored results of the study of teamwork
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents.files import write_whole
from research.drawing import THEMES, Colors, Label, Side, scatter
from research.studies import study

ROOT: Final = Path(__file__).resolve().parents[2]
RESULTS: Final = ROOT / "research" / "studies" / "results"
PICTURES: Final = ROOT / "docs" / "pictures"
GAME: Final = "mini_3"

ALL, STRONG = "all agents", "agents above a strength of -2"
"""Titles of the panels; the second enlarges a part of the first."""
LEAST_STRENGTH: Final = -2.0

KINDS: Final = {
    "rule bots, networks, random play": r"heuristic|greedy|champion|people|random|uniform",
    "equilibria": r"equilibrium|predictive|plus|discounted",
    "equilibria, other preferences": r"proud|patient|large|wins",
    "policy gradients": r"gradient|entropy",
    "best responses": r"best response|response",
    "Bayes-optimal players": r"Bayes-optimal",
}
"""How the names of the players of a kind begin."""

LABELS: Final[dict[str, dict[str, tuple[str, Side]]]] = {
    ALL: {
        "random": ("random", "right"),
        "people": ("people", "right"),
        "champion": ("champion", "right"),
        "heuristic": ("heuristic", "below"),
        "greedy": ("greedy", "right"),
    },
    STRONG: {
        "Bayes-optimal, these pairings": ("knows test pairings", "below"),
        "Bayes-optimal, train pairings": ("knows train pairings", "left"),
        "best response to predictive-0": ("best response to\none train partner", "right"),
        "gradient-1": ("gradient-1", "below"),
        "best response to uniform play": ("best response to\nuniform play", "above"),
        "wins-0": ("wins-0", "right"),
    },
}
"""The label of a player and its side, by panel and name."""


def kind_of(name: str) -> str:
    """Returns the kind of a player."""
    return next(kind for kind, begins in KINDS.items() if re.match(begins, name))


def draw(found: dict[str, Any], colors: Colors) -> bytes:
    """Draws regret over strength, and a line at the price of not knowing the type, as SVG."""
    rows = found["agents"]
    place = {row["name"]: (row["strength"], float(np.mean(row["regret"]))) for row in rows}
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {
        panel: {
            kind: [
                (strength, regret)
                for name, (strength, regret) in place.items()
                if kind_of(name) == kind and (panel == ALL or strength > LEAST_STRENGTH)
            ]
            for kind in KINDS
        }
        for panel in (ALL, STRONG)
    }
    labels = {
        panel: [Label(*place[name], *label) for name, label in named.items()]
        for panel, named in LABELS.items()
    }
    price = rows[0]["price"]
    labels[ALL].append(Label(-9, price, f"price of not knowing the pairing: {price:.2f}", "below"))
    x, y = "strength, points a round", "regret, points a round"
    return scatter(panels, dict.fromkeys(panels, price), x, y, colors, labels)


def main() -> None:
    """Writes the picture for both themes."""
    result = study.stored("teamwork", RESULTS)
    for theme, colors in THEMES.items():
        picture = draw(result.games[GAME].found, colors)
        write_whole(PICTURES / f"regret-{theme}.svg", picture)


if __name__ == "__main__":
    main()
