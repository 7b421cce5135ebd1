"""Defines the exceptions of the package.

::

    GoitaError (ValueError)
    ├── SettingError          an unknown rule set, episode, reward or render mode; a wrong number
    │                         of games, seed, dealer or scores
    ├── HandsError            hands that no deal of the 32 tiles gives
    ├── ActionError           actions of the wrong length, type or range
    │   └── IllegalActionError    an action that the rules forbid in this position
    ├── EpisodeOverError      a step after the end, or before the first reset
    ├── StaleTurnError        a turn's view asked for after the next step, without observations
    ├── ObservationError      a vector that is no observation of this layout version
    └── RecordError           a malformed record, or one whose moves are illegal

Each is a ``ValueError``, says what was expected, what came and where, and is raised before
anything has changed.
"""

from __future__ import annotations


class GoitaError(ValueError):
    """Groups every error that this package raises on purpose."""


class SettingError(GoitaError):
    """Reports a setting or option outside its choices."""


class HandsError(GoitaError):
    """Reports hands that are not a deal of the 32 tiles."""


class ActionError(GoitaError):
    """Reports actions of the wrong length, type or range."""


class IllegalActionError(ActionError):
    """Reports an action that the rules forbid in the position."""


class EpisodeOverError(GoitaError):
    """Reports a step where no seat is asked: after the end, or before a reset."""


class StaleTurnError(GoitaError):
    """Reports that a turn's view was asked for too late to be built."""


class ObservationError(GoitaError):
    """Reports a vector that is not an observation of this layout."""


class RecordError(GoitaError):
    """Reports a malformed record or an illegal move in one, by deal and move."""
