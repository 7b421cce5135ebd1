"""Says in plain sentences what intervals carry, and where they leave a question open."""

from __future__ import annotations

from agents.signals.measures.crossplay import RUNS_NEEDED
from agents.signals.study import AgentStudy, Study
from agents.statistics.intervals import Interval


def bounds(found: Interval, decimals: int = 2) -> str:
    """Returns ``value [low, high]`` with true minus signs; nothing that rounds to zero has one."""
    values = (f"{value:z.{decimals}f}" for value in (found.mean, found.low, found.high))
    mean, low, high = (value.replace("-", "−") for value in values)
    return f"{mean} [{low}, {high}]"


def about(one: AgentStudy) -> list[str]:
    """Returns what is known of one agent. An interval that includes 0 decides nothing."""
    every = one.content["all"][0]
    said = [
        f"An action of the partner tells {bounds(every.expected)} nats about its hand; "
        f"{every.loud:.0%} of the actions tell a nat or more."
    ]
    split = one.split
    if split.policy.low > 0 and split.share is not None:
        said.append(
            f"Of what is known of the partner's hand, a uniformly random player would have told "
            f"{bounds(split.rules)} nats; to know how {one.agent} chooses tells "
            f"{bounds(split.policy)} more, a share of {bounds(split.share)}. This is policy "
            "information, from skill as much as from convention: compare the controls."
        )
    else:
        said.append(
            f"Whether the choices of {one.agent} tell anything beyond the rules is left open: "
            f"{bounds(split.policy)} nats."
        )
    balance = one.friend_or_foe.balance
    said.append(
        _by_sign(
            balance,
            f"The partner is told more than an opponent, by {bounds(balance)} nats an action.",
            f"An opponent is told more than the partner, by {bounds(balance)} nats an action.",
            f"No difference shows between partner and opponents: {bounds(balance)} nats an action.",
        )
    )
    worth = one.value["partner"]
    said.append(
        _by_sign(
            worth,
            f"Listening to the partner is worth {bounds(worth)} points a round to a seat that "
            "searches by its belief.",
            f"Listening to the partner costs a seat that searches by its belief {bounds(worth)} "
            "points a round.",
            "What listening to the partner is worth to a seat that searches by its belief is left "
            f"open: {bounds(worth)} points a round.",
        )
    )
    deaf = one.levels["deaf, hard facts"]
    said.append(
        _by_sign(
            deaf,
            f"A search that listens to nobody and reckons with hard facts alone gains "
            f"{bounds(deaf)} points a round over the policy alone.",
            f"A search that listens to nobody and reckons with hard facts alone loses "
            f"{bounds(deaf)} points a round against the policy alone.",
            "Whether a search that listens to nobody and reckons with hard facts alone gains over "
            f"the policy alone is left open: {bounds(deaf)} points a round.",
        )
    )
    heard = one.levels["listening over hard facts"]
    uniform = one.levels["listening over uniform player"]
    said.append(
        f"Listening to all adds {bounds(heard)} points to that search, and {bounds(uniform)} to "
        "one that takes the others for uniformly random players."
    )
    shown = one.ceilings["partner shown"]
    said.append(
        _by_sign(
            shown,
            f"Were the partner's hand shown, that seat would gain {bounds(shown)} points more: so "
            "much no signal has told.",
            f"Shown the partner's hand, that seat loses {bounds(shown)} points.",
            f"What showing the partner's hand would add is left open: {bounds(shown)} points.",
        )
    )
    signal = one.shuffled.information
    said.append(
        _by_sign(
            signal,
            f"A single signal that is read is worth {bounds(signal)} points.",
            f"A single signal that is read costs {bounds(signal)} points.",
            f"What reading a single signal is worth is left open: {bounds(signal)} points.",
        )
    )
    cost = one.eavesdropping
    taken = Interval(-cost.mean, -cost.high, -cost.low)
    said.append(
        _by_sign(
            cost,
            f"One opponent that listens loses {bounds(cost)} points by it.",
            f"One opponent that listens takes {bounds(taken)} points a round from the speakers.",
            f"What one listening opponent takes is left open: {bounds(cost)} points a round.",
        )
    )
    lost = one.tree.points
    said.append(
        f"A tree of {one.tree.leaves} leaves agrees with {one.agent} in "
        f"{bounds(one.tree.fidelity)} of its decisions and makes {bounds(lost)} points a round "
        "against it."
    )
    return said


def between(found: Study) -> list[str]:
    """Returns what is known of agents beside each other."""
    said = [
        _by_sign(
            other.understood,
            f"Who takes {one.agent} for {other.decoder} still reads it better than by the rules "
            f"alone, by {bounds(other.understood)} nats, and loses {bounds(other.lost)}.",
            f"Who takes {one.agent} for {other.decoder} reads it worse than by the rules alone: "
            f"{bounds(other.understood)} nats.",
            f"Whether taking {one.agent} for {other.decoder} is better than the rules alone is "
            f"left open: {bounds(other.understood)} nats.",
        )
        for one in found.agents
        for other in one.misreading
        if other.decoder in found.plan.agents
    ]
    gap = found.gap
    if gap is not None:
        test = (
            f"(permutation test: p = {gap.p_value:.3f}, {gap.p_beyond_product:.3f} beyond the "
            f"product of strengths; from {len(gap.residual)} runs at least {gap.smallest_p:.3f}, "
            f"below 0.05 from {RUNS_NEEDED} on)"
        )
        said.append(
            _by_sign(
                gap.deals,
                f"On these deals the agents make {bounds(gap.deals)} points a round more with "
                f"themselves than with each other {test}.",
                f"On these deals the agents make {bounds(gap.deals)} points a round, less with "
                f"themselves than with each other {test}.",
                "Whether the agents play better with themselves than with each other is left open: "
                f"{bounds(gap.deals)} points a round {test}.",
            )
        )
    return said


def _by_sign(found: Interval, above: str, below: str, neither: str) -> str:
    """Returns the sentence that an interval carries."""
    return above if found.low > 0 else below if found.high < 0 else neither
