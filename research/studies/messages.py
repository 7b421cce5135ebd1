"""Measures what a message is worth, private or public: messages.md.

Runs of several arms, which differ in a message's audience and cost, play against themselves
muted. What messages and moves say is computed from their probabilities and from exact beliefs; what
moves say also where the same runs are muted at all seats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Final, Literal

from scipy.stats import ttest_1samp

from goita_agents.bots.network import file_digest
from goita_agents.identity import weights as network_weights
from goita_agents.models import LEGAL_MODEL, PolicyModel
from goita_agents.population import Population
from goita_env.actions import CALL
from goita_env.information import PLAIN, InformationStructure, MessageChannel
from goita_env.tiles import NUM_SEATS, PARTNER, RELATIVE_SEATS
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, over_runs
from goita_lab.signals import measures
from goita_lab.signals.listening import POLICY, listen
from goita_lab.signals.messages import MessageUse, message_uses
from goita_lab.signals.plan import Settings
from goita_lab.signals.playing import play
from research.drawing import bounds, table
from research.intervals import between_runs
from research.population.methods import Method
from research.population.train import trained
from research.studies import study
from research.studies.study import Options, corrected

Audience = Literal["partner", "all"]

BITS: Final = 2
WORDS: Final[dict[Audience, str]] = {"partner": "private", "all": "public"}
NONE: Final = "none"
"""The arm without messages."""
RUNS: Final = 8
PRICED_RUNS: Final = 4
"""Of an arm whose messages cost points: the study trains them."""
DEALS: Final = 16_000
HEARD: Final = 50
"""Rounds in which exact listeners follow."""
SEED: Final = 16_200

QUICK_RUNS: Final = 2
QUICK_DEALS: Final = 400
QUICK_HEARD: Final = 4


@dataclass(frozen=True)
class Arm:
    """Who hears messages and what each costs."""

    audience: Audience | None
    """None: there are no messages."""
    cost: int = 0

    @property
    def name(self) -> str:
        return NONE if self.audience is None else f"{WORDS[self.audience]} {self.cost}"

    @property
    def information(self) -> InformationStructure:
        if self.audience is None:
            return PLAIN
        return InformationStructure(
            channel=MessageChannel(bits=BITS, audience=self.audience, cost=self.cost)
        )

    @property
    def runs(self) -> int:
        return PRICED_RUNS if self.cost else RUNS

    @property
    def shipped(self) -> str:
        """Method of the population whose runs are of the arm; empty: the study trains them."""
        if self.audience is None:
            return "selfplay"
        return "" if self.cost else f"token-{WORDS[self.audience]}"


ARMS: Final = (Arm(None), Arm("partner"), Arm("all"), Arm("partner", 1))


@dataclass(frozen=True)
class Run:
    """A run that is measured."""

    arm: Arm
    seed: int
    file: str
    """Of the weights."""
    deals: int
    heard: int

    @property
    def key(self) -> str:
        return f"{self.arm.name} {self.seed}"


@dataclass(frozen=True)
class Found:
    """What a run was measured to do."""

    moves: float
    """Nats that a play or pass tells the partner about the hand."""
    use: MessageUse | None
    """How it uses messages; None where there are none."""
    weights: str
    """SHA-256 of its network."""


@dataclass(frozen=True)
class Row:
    """The means of an arm, over runs."""

    arm: str
    runs: int
    moves: Interval
    muted: Interval | None = None
    """The same where all seats are muted."""
    spoken: Interval | None = None
    """Share of messages that are not silence."""
    depends: Interval | None = None
    """Mutual information of the message and what its sender sees, nats."""
    partner: Interval | None = None
    """Nats that a message tells the partner about the hand."""
    opponents: Interval | None = None
    value: Interval | None = None
    """Points a round against the same run muted, after costs."""


@dataclass(frozen=True)
class Contrast:
    """A hypothesis with its test."""

    text: str
    found: Interval
    p_value: float
    corrected: float
    """By Holm's method, for all contrasts of the table."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    deals: int
    heard: int
    rows: tuple[Row, ...]
    contrasts: tuple[Contrast, ...]
    exploratory: tuple[Contrast, ...]
    runs: dict[str, Found]
    muted: dict[str, float]
    """Nats that a play or pass tells the partner where the run is muted."""


def run(options: Options) -> Result:
    """Trains the runs that are missing and measures all."""
    arms = [arm for arm in ARMS if arm.shipped or not options.quick]
    deals, heard = (QUICK_DEALS, QUICK_HEARD) if options.quick else (DEALS, HEARD)
    todo = [
        Run(arm, seed, str(weights(arm, seed, options)), deals, heard)
        for arm in arms
        for seed in range(QUICK_RUNS if options.quick else arm.runs)
    ]
    hashes = [file_digest(run.file) for run in todo]
    arguments = {"seed": SEED, "deals": deals, "heard": heard, "hashes": hashes}
    measured = options.pieces("messages", Found, arguments, {run.key: run for run in todo}, measure)
    talking = {run.key: run for run in todo if run.arm.audience is not None}
    muted = options.pieces("messages-muted", float, arguments, talking, measure_muted)
    return summarise(measured, muted, deals, heard)


def weights(arm: Arm, seed: int, options: Options) -> Path:
    """Returns the file of a run's weights; one that isn't shipped is trained where it's missing."""
    if not arm.shipped:
        name = f"token-{arm.name.replace(' ', '-')}"
        method = Method(name, "messages", ("--mute-share", "0.5"), arm.information)
        return trained(method, seed, options.output)
    return Population().weights(f"{arm.shipped}-{seed}")


def measure(run: Run) -> Found:
    """Measures a run."""
    agent = f"file:{run.file},temperature=1"
    use = None
    if run.arm.audience is not None:
        # Named by its run: where the file stands is this machine's affair.
        (use,) = message_uses([agent], run.deals, run.heard, settings=Settings(seed=SEED))
        use = replace(use, agent=run.key)
    (digest,) = network_weights([agent]).values()
    return Found(moves_tell(agent, run.arm.information, run.heard), use, digest)


def measure_muted(run: Run) -> float:
    """Returns what moves tell the partner if the run sends nothing at any seat."""
    return moves_tell(f"muted:base=(file:{run.file},temperature=1)", run.arm.information, run.heard)


def moves_tell(agent: str, information: InformationStructure, rounds: int) -> float:
    """Returns what plays and passes tell the partner about the hand, nats a move.

    The partner's hand is read with the agent's own policy, the opponents' by rule constraints
    only.
    """
    followed = play([agent], rounds, seed=SEED, information=information)
    models = {POLICY: {**dict.fromkeys(RELATIVE_SEATS, LEGAL_MODEL), "partner": PolicyModel(agent)}}
    heard, _ = listen(
        followed,
        models,
        knowledge=False,
        where=lambda of: of.action < CALL,
        speakers=(PARTNER,),
        listeners=range(NUM_SEATS),
    )
    return measures.information_gain(followed, heard, speaker=PARTNER)[0].expected.mean


def summarise(
    measured: Mapping[str, Found], muted: Mapping[str, float], deals: int, heard: int
) -> Result:
    """Returns the tables of the page from what runs were measured to do, by "ARM SEED"."""
    by_arm: dict[str, list[Found]] = {}
    quiet: dict[str, list[float]] = {}
    for key, run in measured.items():
        by_arm.setdefault(arm := key.rpartition(" ")[0], []).append(run)
        if key in muted:
            quiet.setdefault(arm, []).append(muted[key])
    moves = {arm: [run.moves for run in runs] for arm, runs in by_arm.items()}
    still = {NONE: moves[NONE], **quiet}
    less = {
        arm: [silent - spoken for silent, spoken in zip(nats, moves[arm], strict=True)]
        for arm, nats in quiet.items()
    }
    value = {
        arm: [run.use.value.mean for run in runs if run.use is not None]
        for arm, runs in by_arm.items()
    }
    tests = [
        _test("moves of private runs say less, muted, nats", still, NONE, "private 0"),
        _test("moves of public runs say less, muted, nats", still, NONE, "public 0"),
    ]
    exploratory = [
        _test("muting adds to moves of private runs, nats", less, "private 0"),
        _test("muting adds to moves of public runs, nats", less, "public 0"),
        _test("a private message at 1 point has a value, points", value, "private 1"),
    ]
    rows = [_row(arm, runs, quiet.get(arm)) for arm, runs in by_arm.items()]
    return Result(
        deals,
        heard,
        tuple(rows),
        _corrected(tests),
        _corrected(exploratory),
        dict(measured),
        dict(muted),
    )


_Test = tuple[str, Interval, float]


def _test(
    text: str, values: Mapping[str, Sequence[float]], arm: str, minus: str | None = None
) -> _Test | None:
    """Tests the mean of an arm, or its difference from another's; None: the arm is missing."""
    if arm not in values or (minus is not None and minus not in values):
        return None
    if minus is None:
        difference, p = over_runs(values[arm]), float(ttest_1samp(values[arm], 0.0).pvalue)
    else:
        difference, p = between_runs(values[arm], values[minus])
    # Runs that are all the same, as with very few deals, have no p-value.
    return text, difference, 1.0 if isnan(p) else p


def _corrected(tests: Sequence[_Test | None]) -> tuple[Contrast, ...]:
    """Corrects the p-values of some tests."""
    complete = [test for test in tests if test is not None]
    p_values = corrected([test[2] for test in complete])
    return tuple(Contrast(*test, p) for test, p in zip(complete, p_values, strict=True))


def _row(arm: str, measured: Sequence[Found], muted: Sequence[float] | None) -> Row:
    moves = over_runs([run.moves for run in measured])
    uses = [run.use for run in measured if run.use is not None]
    if muted is None:
        return Row(arm, len(measured), moves)
    heard = [run.opponents.mean for run in uses if run.opponents is not None]
    spoken = over_runs([1 - run.sent[0] for run in uses])
    depends, partner, value = (
        over_runs([getattr(run, name).mean for run in uses])
        for name in ("depends", "partner", "value")
    )
    messages = spoken, depends, partner, over_runs(heard) if heard else None, value
    return Row(arm, len(measured), moves, over_runs(muted), *messages)


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    heads = ["arm, cost", "runs", "not silence", "messages say, nats", "to the partner"]
    heads += ["to an opponent", "value, points", "moves say, nats", "muted"]
    rows = [
        [
            row.arm,
            f"{row.runs}",
            "" if row.spoken is None else f"{row.spoken.mean:.0%}",
            *map(bounds, (row.depends, row.partner, row.opponents)),
            estimate(row.value),
            *map(bounds, (row.moves, row.muted)),
        ]
        for row in result.rows
    ]
    return "\n\n".join(
        (
            f"{result.deals:,} duplicate deals and {result.heard} rounds of listening a run; means "
            "and 95 % intervals over runs.",
            table(heads, rows),
            _contrasts("hypothesis", result.contrasts),
            _contrasts("exploratory", result.exploratory),
        )
    )


def _contrasts(head: str, contrasts: Sequence[Contrast]) -> str:
    rows = [
        [
            contrast.text,
            estimate(contrast.found),
            f"{contrast.p_value:.2g}",
            f"{contrast.corrected:.2g}",
        ]
        for contrast in contrasts
    ]
    return table([head, "difference", "p", "p, corrected"], rows)


if __name__ == "__main__":
    study.main("messages")
