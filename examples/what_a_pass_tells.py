"""Shows what a partner's pass reveals, in nats, and what observing it is worth, in points.

python examples/what_a_pass_tells.py --deals 40

The games are a log of the champion in this folder. The new deals at the end take a second or two
each. docs/signalling.md explains every measure.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from goita_agents.beliefs import UNIFORM_MODEL, HandBelief, Listener, OpponentModel, PolicyModel
from goita_env.actions import PASS
from goita_env.hands import format_hand
from goita_env.tiles import NAMES
from goita_lab.signals import log, measures
from goita_lab.signals.listening import seen_by
from goita_lab.signals.measures.information_gain import attacks_with
from goita_lab.signals.measures.value import ALL_SEATS, NOT_PARTNER
from goita_lab.signals.playing import Play

LOG = Path(__file__).parent / "champion-log"


def first_pass(play: Play) -> int:
    """Returns the row of a seat's first turn, on an opponent's attack, at which it passes."""
    view = play.view()
    fits = (play.action == PASS) & play.choice & (view.num_plays == 1) & (view.attack > 0)
    fits &= (view.attacker == 3) | (view.attacker == 1)
    return int(np.flatnonzero(fits)[0])


def beliefs(play: Play, row: int, assumed: OpponentModel) -> tuple[HandBelief, HandBelief]:
    """Returns the partner's belief about the acting seat's hand before and after."""
    listener = (int(play.seat[row]) + 2) % 4
    deal = int(play.deal[row])
    before, after = seen_by(play, deal, listener, np.array([row, row + 1]))
    ear = Listener(before, assumed)
    first = ear.posterior("partner")
    ear.update(after)
    return first, ear.posterior("partner")


def main(deals: int) -> None:
    # 1. A log holds every decision; one of them is a partner's pass.
    play = log.read(LOG)
    row = first_pass(play)
    view = play.view(np.array([row]))
    kind = int(view.attack[0])
    print(f"An opponent attacks with a {NAMES[kind]}, and my partner passes.")

    # 2. What did that reveal? Compare the beliefs before and after.
    for name, assumed in (("the champion", PolicyModel("champion")), ("anybody", UNIFORM_MODEL)):
        before, after = beliefs(play, row, assumed)
        possible = after.probability > 0
        new, old = after.probability[possible], before.probability[possible]
        nats = new @ np.log(new / old)
        holds = [belief.at_least(1)[kind] for belief in (before, after)]
        print(
            f"  If it plays as {name}: {nats:.2f} nats; P(it holds a {NAMES[kind]}) "
            f"from {holds[0]:.2f} to {holds[1]:.2f}"
        )
    hand = play.hands[play.deal[row], play.seat[row]]
    print(f"  It was dealt {format_hand(hand)}.")

    # 3. A pass is one of many actions. What does a seat know at its decisions?
    columns = ["move", "log_probability_partner", "entropy_partner"]
    frame = pd.read_parquet(LOG, columns=columns).dropna()
    for low, high in ((0, 8), (8, 16), (16, 46)):
        part = frame[(frame["move"] >= low) & (frame["move"] < high)]
        print(
            f"Moves {low} to {high - 1}: entropy of the partner's hand "
            f"{part['entropy_partner'].mean():.2f} nats, log-probability of the real one "
            f"{part['log_probability_partner'].mean():.2f}"
        )

    # 4. Where does it come from? From the policy: a seat that leads a silver has more of them.
    silver = NAMES.index("silver")
    first = play.view().leads & (play.view().num_plays == 0)
    led = first & (attacks_with(play.action) == silver)
    pair = play.hands[play.deal, play.seat, silver] >= 2
    print(
        f"Two silvers or more are in {pair[first].mean():.0%} of {first.sum()} hands that lead "
        f"first, and in {pair[led].mean():.0%} of {led.sum()} that lead a silver."
    )

    # 5. What is it worth? One seat searches by its belief, with and without its partner's moves.
    models = {"policy": PolicyModel("champion"), "uniform": UNIFORM_MODEL}
    values = measures.play_listening("champion", models, deals, sources=(ALL_SEATS, NOT_PARTNER))
    worth = values.gain(ALL_SEATS, NOT_PARTNER)
    print(
        f"Listening to the partner: {worth.mean:+.2f} points a round "
        f"[{worth.low:+.2f}, {worth.high:+.2f}] over {deals} deals."
    )
    if worth.low <= 0 <= worth.high:
        print("The interval includes 0: so few deals leave the question open.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deals", type=int, default=40)
    main(parser.parse_args().deals)
