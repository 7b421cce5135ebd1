"""The study of messages finds values that are there, and none that are not."""

import re

import numpy as np
import pytest

from goita_lab.arena.statistics.intervals import Interval
from goita_lab.signals.messages import MessageUse
from research.studies import messages
from research.studies.messages import ARMS, Found, report, summarise


def certain(value: float) -> Interval:
    return Interval(value, value, value)


def found(values: dict[str, float], noise: float) -> dict[str, Found]:
    """Returns what runs were measured to do, if a message is worth so much in each arm."""
    rng, all_ = np.random.default_rng(5), {}

    def about(value: float) -> Interval:
        return certain(value + rng.normal(0, noise))

    for arm, seed in ((one, seed) for one in ARMS for seed in range(one.runs)):
        use = None
        if arm.audience is not None:
            use = MessageUse(
                f"{arm.name}-{seed}",
                arm.information,
                rounds=10,
                sent=(0.75, 0.25),
                depends=about(1.0),
                kinds=(),
                partner=about(0.4),
                opponents=about(0.2) if arm.audience == "all" else None,
                value=about(values.get(arm.name, 0.0)),
            )
        all_[f"{arm.name} {seed}"] = Found(0.7 + rng.normal(0, noise), use, "0" * 64)
    return all_


def test_what_moves_say_muted_is_compared_with_runs_without_messages():
    every = found({"private 0": 0.5}, 0.1)
    told = {"private 0": 0.2, "public 0": 0.7, "private 1": 0.7}
    rng = np.random.default_rng(1)
    muted = {
        key: told[arm] + rng.normal(0, 0.1)
        for key in every
        if (arm := key.rpartition(" ")[0]) in told
    }
    result = summarise(every, muted, 10, 5)
    private, public = result.contrasts
    assert private.found.low > 0.3
    assert private.p_value < private.corrected < 0.001
    assert public.found.low < 0 < public.found.high
    adds, _, priced = result.exploratory
    assert adds.found.mean == pytest.approx(-0.5, abs=0.1)
    assert priced.found.low < 0 < priced.found.high
    rows = {one.arm: one for one in result.rows}
    assert rows["private 0"].value.low > 0.3
    assert rows["private 1"].runs == messages.PRICED_RUNS
    assert rows[messages.NONE].muted is None
    text = report(result)
    assert re.search(r"\| private 1 +\| +4 \| +25% \|", text)
    assert len(re.findall(r"\| none +\| +8 \|", text)) == 1
