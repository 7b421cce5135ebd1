"""Holds decisions of recorded games, splits them by game, and scores predictions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from goita_agents.asking import ask_probabilities
from goita_agents.base import Bool, Float, Int, Policy
from goita_agents.bots.network import LogitAgent
from goita_env import View
from goita_env.errors import SettingError
from goita_env.rules import Rules
from goita_env.views.observation import Words
from goita_lab.arena.statistics.intervals import Interval, rate_interval, ratio_interval

TEST_SHARE: Final = 0.15
"""Share of the games that are held out for the test, and share of the other games that the weight
is chosen on."""

FEWEST_GAMES: Final = 5


@dataclass(frozen=True)
class Examples:
    """D decisions with more than one legal action, each with its game.

    Decisions of one game share deals and players, so splits and intervals never divide a game.
    """

    rules: Rules
    words: Words  #: uint64 [D, 8] the packed view of the seat that decided.
    legal: Bool  #: [D, 69]
    action: Int  #: [D] the action taken.
    game: Int  #: [D] number of the game, from 0.

    def __len__(self) -> int:
        return len(self.action)

    @property
    def games(self) -> int:
        """Number of games with a decision."""
        return len(np.unique(self.game))

    def view(self) -> View:
        """Returns the acting seats' views: D positions."""
        return View(self.words, None, self.rules)

    def of_games(self, games: Int) -> Self:
        """Returns the decisions of ``games``."""
        return self.of_rows(np.flatnonzero(np.isin(self.game, games)))

    def of_rows(self, rows: Int) -> Self:
        """Returns the decisions ``rows``."""
        return replace(
            self,
            words=self.words[rows],
            legal=self.legal[rows],
            action=self.action[rows],
            game=self.game[rows],
        )

    def taken(self, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the entry of the action taken in each row of a table [D, 69]: [D]."""
        return np.asarray(table[np.arange(len(self)), self.action])

    def by_game(self, values: npt.ArrayLike) -> tuple[Float, Float]:
        """Returns the sum of decisions' values [D] in each game, and the number of decisions."""
        _, game = np.unique(self.game, return_inverse=True)
        sums = np.bincount(game, np.asarray(values, np.float64))
        return sums.astype(np.float64), np.bincount(game).astype(np.float64)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Concatenates decisions of different games, and numbers the games anew.

        Raises:
            SettingError: if there are no parts, or parts of several rule sets.
        """
        names = sorted({part.rules.name for part in parts})
        if len({part.rules for part in parts}) != 1:
            raise SettingError(f"expected games of one rule set, got those of {names}")
        # A part's games follow the games of all earlier parts.
        offsets = np.cumsum([0, *(int(part.game.max(initial=-1)) + 1 for part in parts)]).tolist()
        return cls(
            rules=parts[0].rules,
            words=np.concatenate([part.words for part in parts]),
            legal=np.concatenate([part.legal for part in parts]),
            action=np.concatenate([part.action for part in parts]),
            game=np.concatenate(
                [part.game + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
            ),
        )


class Split(NamedTuple):
    """Three sets of decisions that have no game in common."""

    train: Examples
    validation: Examples  #: The weight, the temperature and the epsilon are chosen on these.
    test: Examples  #: Nothing is learned or chosen on these.


def split_games(examples: Examples, seed: int) -> Split:
    """Splits decisions by game, at random by a seed.

    Raises:
        SettingError: if there are too few games.
    """
    games = np.unique(examples.game)
    if len(games) < FEWEST_GAMES:
        raise SettingError(
            f"expected decisions of {FEWEST_GAMES} games or more, some to learn from and some to "
            f"hold out, got {len(games)}"
        )
    shuffled = np.random.default_rng(seed).permutation(games)
    size = max(2, round(TEST_SHARE * len(shuffled)))
    test, learning = shuffled[:size], shuffled[size:]
    size = max(2, round(TEST_SHARE * len(learning)))
    validation, train = learning[:size], learning[size:]
    return Split(*(examples.of_games(games) for games in (train, validation, test)))


TEMPERATURES: Final = tuple(2 ** (step / 4) for step in range(-8, 17))
"""Temperatures from 1/4 to 16; the one with the highest likelihood is chosen for a network."""

EPSILONS: Final = (
    *(0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
    *(0.4, 0.5, 0.6, 0.7, 0.8),
)
"""Shares of uniformly random actions to choose from; a share of 1 is the uniform model."""

MIN_PROBABILITY: Final = 1e-12
"""Scores raise the probability of an action to this, so that logarithms are finite."""

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
        heated = np.exp(self._normalised(temperature))
        uniform = legal / legal.sum(axis=1, keepdims=True)
        return np.asarray((1 - epsilon) * heated + epsilon * uniform)

    def fit(self, examples: Examples) -> tuple[float, float]:
        """Returns the temperature and the epsilon with the best predictions of decisions."""
        uniform = 1 / examples.legal.sum(axis=1)
        best = (-np.inf, 1.0, 0.0)  # log-likelihood, temperature and epsilon, compared in turn
        for temperature in TEMPERATURES if self.can_be_heated else (1.0,):
            taken = np.exp(examples.taken(self._normalised(temperature)))
            for epsilon in EPSILONS:
                chance = np.maximum((1 - epsilon) * taken + epsilon * uniform, MIN_PROBABILITY)
                best = max(best, (float(np.log(chance).mean()), temperature, epsilon))
        return best[1:]

    def _normalised(self, temperature: float) -> Float:
        logarithms = self.log_probability / temperature
        logarithms -= logarithms.max(axis=1, keepdims=True)
        logarithms -= np.log(np.exp(logarithms).sum(axis=1, keepdims=True))
        return np.asarray(logarithms)


def predict(model: Policy | None, examples: Examples) -> Prediction:
    """Returns a model's prediction, a network's from its logits; None is the uniform model."""
    legal = examples.legal
    if model is None:
        return Prediction(np.where(legal, 0.0, -np.inf), can_be_heated=False)
    view = examples.view()
    if isinstance(model, LogitAgent):
        table = np.where(legal, model.logits(view).astype(np.float64), -np.inf)
        return Prediction(table, can_be_heated=True)
    with np.errstate(divide="ignore"):
        table = np.log(ask_probabilities(model, view, legal))
    return Prediction(table, can_be_heated=False)


@dataclass(frozen=True)
class Score:
    """How well a model predicts held-out decisions; intervals over games."""

    name: str
    temperature: float
    epsilon: float
    log_likelihood: Interval  #: nats a decision
    accuracy: Interval  #: share of decisions in which the model's likeliest action was taken
    behind: Interval | None = None
    """Nats a decision by which the first model of the table is better, on the same games."""


@dataclass(frozen=True)
class Calibration:
    """A bin of a calibration curve: predicted and observed share of the likeliest action."""

    low: float
    high: float
    decisions: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class Guesses:
    """A model's predictions of held-out decisions."""

    temperature: float
    epsilon: float
    taken: Float  #: [D] log-probability of the action taken
    top: Float  #: [D] probability of the likeliest action
    hit: Float  #: [D] 1 where the likeliest action was taken

    @classmethod
    def of(cls, model: Policy | None, validation: Examples, test: Examples) -> Self:
        """Returns the guesses of a model; None is the uniform model.

        Args:
            model: a policy.
            validation: the decisions on which its temperature and its epsilon are chosen.
            test: the decisions to predict.
        """
        temperature, epsilon = predict(model, validation).fit(validation) if model else (1.0, 0.0)
        table = predict(model, test).probabilities(test.legal, temperature, epsilon)
        taken = np.log(np.maximum(test.taken(table), MIN_PROBABILITY))
        return cls(temperature, epsilon, taken, top=table.max(axis=1), hit=hits(table, test))


def compare(
    test: Examples, guesses: Sequence[tuple[str, Guesses]]
) -> tuple[list[Score], list[Calibration]]:
    """Scores models on held-out decisions, and calibrates the first of them.

    Args:
        test: the decisions, of two games at least.
        guesses: the models' guesses, with the models' names.
    """
    first = guesses[0][1]
    scores = [
        Score(
            name=name,
            temperature=model.temperature,
            epsilon=model.epsilon,
            log_likelihood=ratio_interval(*test.by_game(model.taken)),
            accuracy=rate_interval(*test.by_game(model.hit)),
            behind=ratio_interval(*test.by_game(first.taken - model.taken)) if index else None,
        )
        for index, (name, model) in enumerate(guesses)
    ]
    return scores, calibrate(first)


def hits(table: Float, examples: Examples) -> Float:
    """Returns the chance that a model's likeliest action is the action taken: [D].

    Several equally likely actions share the chance.
    """
    top = table == table.max(axis=1, keepdims=True)
    return np.asarray(examples.taken(top) / top.sum(axis=1))


def calibrate(guesses: Guesses) -> list[Calibration]:
    """Compares predicted and observed frequencies of the likeliest action, by its probability."""
    predicted, observed = guesses.top, guesses.hit
    bins = np.digitize(predicted, BINS[1:-1])
    return [
        Calibration(
            low=low,
            high=high,
            decisions=int(inside.sum()),
            predicted=float(predicted[inside].mean()),
            observed=float(observed[inside].mean()),
        )
        for index, (low, high) in enumerate(pairwise(BINS))
        if (inside := bins == index).any()
    ]
