"""Scores predictions of recorded actions: log likelihood, accuracy, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

import numpy as np

from goita_agents.base import Bool, Float, Policy
from goita_agents.bots.network import LogitAgent
from goita_lab.arena.statistics.intervals import Interval, rate_interval, ratio_interval
from goita_lab.imitate.examples import Examples

TEMPERATURES: Final = tuple(2 ** (step / 4) for step in range(-8, 17))
"""Of which a network is given the likeliest: 1/4 to 16."""

EPSILONS: Final = (
    *(0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
    *(0.4, 0.5, 0.6, 0.7, 0.8),
)
"""Shares of uniformly random actions that are tried; 1 is the uniform model itself."""

LEAST: Final = 1e-12
"""Probability that counts for an action to which a model gives less, in a score."""

BINS: Final = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Bounds of the bins of a calibration."""


@dataclass(frozen=True)
class Prediction:
    """A model's distribution in each of D positions, before temperature and epsilon."""

    log_probability: Float
    """[D, 69] Up to a constant in each row; minus infinity where illegal."""
    can_be_heated: bool

    def probabilities(self, legal: Bool, temperature: float, epsilon: float) -> Float:
        """Returns (1 - epsilon) * heated distribution + epsilon * uniform: float64 [D, 69]."""
        known = np.exp(self._normalised(temperature))
        uniform = legal / legal.sum(axis=1, keepdims=True)
        return np.asarray((1 - epsilon) * known + epsilon * uniform)

    def fit(self, examples: Examples) -> tuple[float, float]:
        """Returns the temperature and the epsilon with which it predicts decisions best."""
        uniform = 1 / examples.legal.sum(axis=1)
        best = (-np.inf, 1.0, 0.0)
        for temperature in TEMPERATURES if self.can_be_heated else (1.0,):
            taken = np.exp(examples.taken(self._normalised(temperature)))
            for epsilon in EPSILONS:
                chance = np.maximum((1 - epsilon) * taken + epsilon * uniform, LEAST)
                best = max(best, (float(np.log(chance).mean()), temperature, epsilon))
        return best[1:]

    def _normalised(self, temperature: float) -> Float:
        found = self.log_probability / temperature
        found -= found.max(axis=1, keepdims=True)
        found -= np.log(np.exp(found).sum(axis=1, keepdims=True))
        return np.asarray(found)


def predict(model: Policy | None, examples: Examples) -> Prediction:
    """Asks a model about decisions: a network for its logits; None is the uniform model."""
    legal = examples.legal
    if model is None:
        return Prediction(np.where(legal, 0.0, -np.inf), can_be_heated=False)
    view = examples.view()
    if isinstance(model, LogitAgent):
        table = np.where(legal, model.logits(view).astype(np.float64), -np.inf)
        return Prediction(table, can_be_heated=True)
    with np.errstate(divide="ignore"):
        table = np.log(model.probabilities(view, legal))
    return Prediction(table, can_be_heated=False)


@dataclass(frozen=True)
class Score:
    """How well a model predicts held-out decisions; intervals over games."""

    name: str
    temperature: float
    epsilon: float
    log_likelihood: Interval  #: nats a decision
    accuracy: Interval  #: share of decisions in which its likeliest action was taken
    behind: Interval | None = None
    """Nats a decision that the first model of the table is ahead, on the same games."""


@dataclass(frozen=True)
class Calibration:
    """The probability of the likeliest action and how often it was taken, in a bin."""

    low: float
    high: float
    decisions: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class Guesses:
    """How a model predicts held-out decisions."""

    temperature: float
    epsilon: float
    taken: Float  #: [D] log-probability of the action taken
    top: Float  #: [D] probability of the likeliest action
    hit: Float  #: [D] 1 where that was taken

    @classmethod
    def of(cls, model: Policy | None, validation: Examples, test: Examples) -> Self:
        """Asks a model; None is the uniform one.

        Args:
            model: a policy.
            validation: the decisions on which its temperature and its epsilon are chosen.
            test: the decisions to predict.
        """
        temperature, epsilon = predict(model, validation).fit(validation) if model else (1.0, 0.0)
        table = predict(model, test).probabilities(test.legal, temperature, epsilon)
        taken = np.log(np.maximum(test.taken(table), LEAST))
        return cls(temperature, epsilon, taken, table.max(axis=1), hits(table, test))


def compare(
    test: Examples, guesses: Sequence[tuple[str, Guesses]]
) -> tuple[list[Score], list[Calibration]]:
    """Scores models on held-out decisions, and calibrates the first of them.

    Args:
        test: the decisions, of two games at least.
        guesses: what the models guess about them, by the models' names.
    """
    first = guesses[0][1]
    scores = [
        Score(
            name,
            one.temperature,
            one.epsilon,
            ratio_interval(*test.by_game(one.taken)),
            rate_interval(*test.by_game(one.hit)),
            ratio_interval(*test.by_game(first.taken - one.taken)) if number else None,
        )
        for number, (name, one) in enumerate(guesses)
    ]
    return scores, calibrate(first)


def hits(table: Float, examples: Examples) -> Float:
    """Returns the chance that a model's likeliest action is the one taken: [D].

    Of several that are as likely one counts as drawn.
    """
    top = table == table.max(axis=1, keepdims=True)
    return np.asarray(examples.taken(top) / top.sum(axis=1))


def calibrate(guesses: Guesses) -> list[Calibration]:
    """Compares predicted and observed frequencies of the likeliest action, by its probability."""
    predicted, observed = guesses.top, guesses.hit
    places = np.digitize(predicted, BINS[1:-1])
    return [
        Calibration(
            low,
            high,
            int(inside.sum()),
            float(predicted[inside].mean()),
            float(observed[inside].mean()),
        )
        for place, (low, high) in enumerate(pairwise(BINS))
        if (inside := places == place).any()
    ]
