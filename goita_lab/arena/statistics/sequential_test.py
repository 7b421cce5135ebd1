"""Stops a pairing as soon as it is decided: the generalised sequential probability ratio test.

It compares two hypotheses about the points per round, mu = low (H0) and mu = high (H1). The unit is
the deal: its mean over both seatings, nearly normal with an unknown variance. With n deals of mean
Y and sample variance s^2 the log-likelihood ratio is

    LLR = n (high - low) (2 Y - low - high) / (2 s^2)

as chess testers use it on pairs of games (Fishtest, "GSPRT"; Wald 1945). At or above
ln((1 - beta) / alpha) the test accepts H1, at or below ln(beta / (1 - alpha)) H0. It is evaluated
after each block, in order, so it stops at the same deal with any number of workers. An interval
computed after such a stop is somewhat too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log
from typing import Final, Literal, Self

import numpy as np
import numpy.typing as npt

from goita_env.errors import SettingError

Decision = Literal["H0", "H1"]

SPRT_ERROR_RATE: Final = (
    0.05  #: alpha and beta: probability of accepting a hypothesis if the other holds.
)
SPRT_MIN_DEALS: Final = 100  #: Deals before any decision: the sample variance of fewer says little.

_LEAST_VARIANCE: Final = 1e-6  # points squared; keeps the ratio finite for equal deals


@dataclass(frozen=True)
class Verdict:
    """The state of a test."""

    llr: float
    decision: Decision | None  #: None: not decided by these deals
    bounds: tuple[float, float]
    hypotheses: tuple[float, float]  #: points per round under H0 and H1
    deals: int


@dataclass(frozen=True)
class Sprt:
    """The two hypotheses, in points per round."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise SettingError(
                f"expected two numbers, the lower first, got {self.low!r} and {self.high!r}"
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Returns the test of "LOW,HIGH"; a SettingError if the text is something else."""
        try:
            low, high = (float(part) for part in text.split(","))
        except ValueError as error:
            raise SettingError(
                f"expected the points per round of two hypotheses as LOW,HIGH (0,1.5), got {text!r}"
            ) from error
        return cls(low, high)

    @property
    def bounds(self) -> tuple[float, float]:
        """Returns the log-likelihood ratios at which H0 and H1 are accepted."""
        return log(SPRT_ERROR_RATE / (1 - SPRT_ERROR_RATE)), log(
            (1 - SPRT_ERROR_RATE) / SPRT_ERROR_RATE
        )


class SprtRun:
    """A test that is run over the blocks of a pairing."""

    def __init__(self, test: Sprt) -> None:
        self.test = test
        self._deals, self._sum, self._squares = 0, 0.0, 0.0
        self._decision: Decision | None = None

    def add(self, values: npt.ArrayLike) -> Decision | None:
        """Adds a block of deals [n], each its mean points per round; returns any decision."""
        if self._decision is None:
            array = np.asarray(values, np.float64)
            self._deals += len(array)
            self._sum += float(array.sum())
            self._squares += float((array * array).sum())
            low, high = self.test.bounds
            if self._deals >= SPRT_MIN_DEALS:
                ratio = self._ratio()
                self._decision = "H1" if ratio >= high else "H0" if ratio <= low else None
        return self._decision

    def verdict(self) -> Verdict:
        """Returns the state of the test."""
        test = self.test
        hypotheses = (test.low, test.high)
        return Verdict(self._ratio(), self._decision, test.bounds, hypotheses, self._deals)

    def _ratio(self) -> float:
        if self._deals < 2:
            return 0.0
        n, test = self._deals, self.test
        mean = self._sum / n
        variance = max((self._squares - n * mean * mean) / (n - 1), _LEAST_VARIANCE)
        return n * (test.high - test.low) * (2 * mean - test.low - test.high) / (2 * variance)
