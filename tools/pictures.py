"""Draws the pictures of the pages in docs/: ``python tools/pictures.py``."""

from pathlib import Path

import numpy as np

from goita_agents import solver
from goita_env import Game, View, actions, records, worlds
from goita_env.render import animation, svg
from goita_env.render.pen import Drawing, Pen, write_document
from goita_env.render.themes import Theme
from goita_env.tiles import COUNTS, KING, NAMES, NUM_KINDS, POINTS
from goita_lab.signals.playing import load_policy

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
POLICY = "champion:temperature=1"
HANDS = ["11235578", "11112333", "11444567", "11224569"]
CARD = 600
"""Width and height of a drawing."""
MOVES = "11 14 87 p 75 52 p 21 p 18 p p p 62"


def play(game: Game, moves: list[str]) -> Game:
    """Makes the moves in a game, and returns it."""
    for move in moves:
        game.play(move)
    return game


def position(moves: int) -> Game:
    return play(Game(hands=HANDS, dealer=2, scores=[40, 20]), MOVES.split()[:moves])


def acting_view(game: Game) -> View:
    assert game.seat is not None
    return game.view(game.seat)


def counts(view: View, num_worlds: int = 4000) -> np.ndarray:
    """Returns how probable each hand holds 0, 1, ... tiles of each kind: [4, 8, 11].

    All worlds that the view allows are equally probable, here.
    """
    hands = worlds.sample(view, num_worlds, np.random.default_rng(0)).hands
    shares = (hands[..., None] == np.arange(11)).mean(axis=0)
    shares[0] = 0  # the viewer's own
    return np.asarray(shares)


def policy_and_points() -> tuple[np.ndarray, View, np.ndarray]:
    """Returns a policy's probabilities at a decision, what its seat sees, perfect play's points."""
    agent = load_policy(POLICY)
    game = Game(seed=16)
    for _ in range(11):
        view = acting_view(game)
        game.play(int(agent.probabilities(view, view.legal())[0].argmax()))
    view, points = acting_view(game), np.full(actions.NUM_ACTIONS, np.nan)
    for action, value in solver.solve(game).values.items():
        points[action] = value
    return agent.probabilities(view, view.legal())[0], view, points


CURVE = [(0, -33.7), (3, -1.8), (6, -0.5), (9, 2.2), (12, 2.0)]
"""Millions of decisions, and points a round against heuristic (2,000 deals, seed 6100), of a
training of the population, selfplay-4."""


def learning(theme: Theme) -> list[Drawing]:
    """Draws a learning curve, one measurement after another."""
    drawings = []
    for length in range(1, len(CURVE) + 1):
        pen = Pen(theme, "letters")
        colors = pen.colors
        pen.box(0, 0, CARD, CARD, colors.ground)
        places = [(70 + 42 * million, 60 + 11 * (5 - points)) for million, points in CURVE]
        for points in (0, -10, -20, -30):
            height = 60 + 11 * (5 - points)
            pen.path(f"M70 {height}H590", stroke=colors.slot)
            pen.text(60, height + 6, f"{points}", 20, colors.faint, "end")
        line = "L".join(f"{x} {y}" for x, y in places[:length])
        pen.path(f"M{line}", stroke=colors.mover, weight=5)
        for x, y in places[:length]:
            pen.path(f"M{x - 7} {y}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0", fill=colors.mover)
        x, y = places[length - 1]
        pen.text(min(x, 520), y - 20, f"{CURVE[length - 1][1]:+}", 26, colors.text, "middle")
        pen.text(330, 540, f"{CURVE[length - 1][0]} million decisions", 26, colors.text, "middle")
        pen.text(330, 580, "points a round against heuristic", 22, colors.faint, "middle")
        drawings.append(pen.drawing(CARD, CARD, "A learning curve", "Strength by decisions."))
    return drawings


def analysed(theme: Theme) -> list[Drawing]:
    """Draws decisions of a round as an analysis shows them: what was played, and what is best."""
    agent = load_policy(POLICY)
    game, drawings = position(4), []
    for move in MOVES.split()[4:12]:
        played = actions.parse(move)
        view = acting_view(game)
        legal = view.legal()
        if legal.sum() > 1:
            best = int(agent.probabilities(view, legal)[0].argmax())
            marked: dict[svg.Mark, int] = {"played": played, "best": best}
            drawings.append(svg.draw(game, theme=theme, marked=marked))
        game.play(played)
    return drawings


def cards() -> dict[str, str]:
    """Draws what moves on the first page of the site, for both themes."""
    pictures = {}
    for theme in ("light", "dark"):
        deal = records.from_game(position(14)).deals[0]
        rows = {
            "train": (learning(theme), 1.0),
            "analyse": (analysed(theme), 2.0),
            "play": (deal.drawings(theme=theme), 1.5),
        }
        for name, (drawings, seconds) in rows.items():
            pictures[f"{name}-{theme}.svg"] = animation.animated(drawings, seconds, width=300)
    return pictures


FIRST = ["11235578", "11112333", "11444567", "11224568"]
STEPS = ("14", "42 p p p", "11 15 p 54", "p p p 14 82 25 p p 56")
"""Hands and moves of docs/tutorials/first_game.md, a picture after each step."""


def first_game() -> dict[str, str]:
    """Draws the steps of the first game, for both themes."""
    game, pictures = Game(hands=FIRST, dealer=2), {}
    for index, step in enumerate(STEPS, 1):
        play(game, step.split())
        for theme in ("light", "dark"):
            pictures[f"first-{index}-{theme}.svg"] = svg.render(game, theme=theme)
    return pictures


BOOKLET = ["12355688", "11123467", "11122344", "11134557"]
BOOKLET_MOVES = "32 26 p p 68 p p p 18 p p p 55"
"""Hands and moves of the example round of docs/rules.md, which the booklet describes."""


def favicon() -> str:
    """Draws a king's tile."""
    pen = Pen("light", "characters")
    pen.tiles([(32, 32, KING, False)], scale=1.2)
    return write_document(pen.drawing(64, 64, "Goita", "A king"), 64)


def tiles(theme: Theme) -> str:
    """Draws a tile of each kind with its name, how many there are, and its points.

    Two rows of four fit on a narrow screen.
    """
    pen, columns, width, height = Pen(theme, "characters"), 4, 90, 132
    places = [
        (45 + width * (kind % columns), height * (kind // columns)) for kind in range(NUM_KINDS)
    ]
    pen.tiles([(x, y + 40, kind, False) for kind, (x, y) in enumerate(places)])
    for kind, (x, y) in enumerate(places):
        pen.text(x, y + 96, f"{COUNTS[kind]} x {NAMES[kind]}", 16, pen.colors.text, "middle")
        pen.text(x, y + 118, f"{POINTS[kind]} points", 15, pen.colors.faint, "middle")
    size = (width * columns, height * (NUM_KINDS // columns))
    return write_document(pen.drawing(*size, "Tiles", "The eight kinds of tiles"), size[0])


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    game = position(7)
    view = game.view(1)
    policy, decided, points = policy_and_points()
    pictures = {
        "seat.svg": svg.render(view),
        "table-dark.svg": position(13).svg(theme="dark", faces="letters"),
        "policy.svg": svg.render(
            decided, probabilities=policy, values=points, belief=counts(decided)
        ),
        "rules.svg": svg.render(
            play(Game(hands=BOOKLET, dealer=0), BOOKLET_MOVES.split()), size=420
        ),
        "tiles-light.svg": tiles("light"),
        "tiles-dark.svg": tiles("dark"),
        "favicon.svg": favicon(),
    }
    for name, text in (pictures | cards() | first_game()).items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
