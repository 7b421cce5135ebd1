"""Shows what a partner's decisions reveal, move by move.

python examples/partners_pass.py

``heuristic`` plays a round at all seats. Seat 0 assumes that the others play that policy with an
epsilon of 0.02. Each line shows what it knows about its partner's hand after a decision.
"""

from goita_agents.beliefs import PolicyModel, follow
from goita_env import actions, records

HISTORY = (
    "11122335,11256678,11334457,11124459,s1,113,2p,3p,4p,112,226,3p,4p,1p,216,3p,4p,1p,"
    "217,373,4p,132,2p,3p,424,1p,285"
)
SEAT, PARTNER = 0, 2


def main() -> None:
    deal = records.history.loads(HISTORY).deals[0]
    print(f"The partner was dealt {deal.hands[PARTNER]}.\n")
    print("decision     nats left  likelier by  the likeliest hand")
    for game, listener in follow(deal, SEAT, PolicyModel("heuristic")):
        belief, truth = listener.posterior("partner"), game.dealt[PARTNER]
        seat, action = game.moves[-1]
        ((hand, probability),) = belief.most_likely(1)
        print(
            f"seat {seat}: {actions.name(action):>4}  {belief.entropy():9.2f}  "
            f"{belief.sampling_ratio(truth):10.1f}x  {hand} ({probability:.1%})"
        )
    print(f"\nbefore the first move: {belief.prior_entropy():.2f} nats")
    print(f"now the real hand has {belief.log_probability(truth):.2f} nats of log-probability,")
    print(f"and at least two of each kind: {belief.at_least(2).round(2).tolist()}")
    print(f"log-probability of all that the others did: {listener.log_evidence():.2f} nats")
    print(f"supposed: {belief.models[1]}")


if __name__ == "__main__":
    main()
