"""Defines the columns of a log's two tables, and turns plays into the tables and back.

A log is a folder with two tables in parts, ``_deals/deals-00000.parquet`` and
``decisions/decisions-00000.parquet`` and so on. ``round`` and ``redeal`` are the key of a deal in
both. The metadata of a file's schema has under ``goita`` its format and all that its content
depends on: JSON with "format", "agents", "weights" (the SHA-256 of each network), "digests" of
the agents, "seed", "rules", "first", "rounds", "observation_version", "versions" and "goita_env",
and "information" unless the game is the plain one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from goita_agents.population import origin
from goita_env.errors import GoitaError, naming_extras
from goita_env.hands import format_hand
from goita_env.information import InformationStructure
from goita_env.rules import Rules
from goita_env.tiles import DIGITS, NUM_KINDS, NUM_SEATS, RELATIVE_SEATS
from goita_lab.signals.playing import Play
from goita_lab.store import check_columns

if TYPE_CHECKING:
    import pyarrow as pa

SAFE_ARROW: Final = (14, 0, 1)
"""The first pyarrow that runs no code which a Parquet file holds (CVE-2023-47248)."""

DEALS: Final = "deals"
DECISIONS: Final = "decisions"
FOLDERS: Final = {DECISIONS: "decisions", DEALS: "_deals"}
"""Folders of the tables in a log. pandas ignores ``_deals``: a whole log reads as decisions."""

FORMAT: Final = "goita-signals-3"
"""Names this kind of file; grows when a column or its meaning changes."""

KEY: Final = b"goita"

Array = npt.NDArray[Any]
_BITS: Final = np.uint64(1) << np.arange(64, dtype=np.uint64)
"""Bit a of a mask, which says whether action a (in the high mask, action 64 + a) is legal."""


class LogError(GoitaError):
    """A folder that holds no log, or a log that is damaged, mixed or of another version."""


def arrow() -> Any:
    """Returns pyarrow, which takes a while to load.

    Raises:
        ImportError: if it is so old that a file can make it run code.
    """
    with naming_extras():
        import pyarrow.parquet

    version = tuple(int(part) for part in pyarrow.__version__.split(".")[:3] if part.isdecimal())
    if version < SAFE_ARROW:
        raise ImportError(
            f"expected pyarrow 14.0.1 or newer, which runs no code of a file's, got "
            f"{pyarrow.__version__}: pip install -U pyarrow"
        )
    return pyarrow


def columns(table: str, *, words: int = 8, belief: bool = False) -> dict[str, pa.DataType]:
    """Returns the columns of a table with their types in Arrow.

    Args:
        table: ``DECISIONS`` or ``DEALS``.
        words: of a packed view: 8, or 10 or 14 if tiles are shown.
        belief: whether the log has the acting seats' knowledge of the others' hands.
    """
    pa = arrow()
    text, name = (pa.dictionary(index, pa.string()) for index in (pa.int32(), pa.int8()))
    key = {
        "round": pa.int64(),  # number of the round in the log, from 0
        "redeal": pa.int8(),  # index of the deal in its round, from 0
    }
    if table == DEALS:
        return {
            **key,
            **{f"dealt_{s}": text for s in range(NUM_SEATS)},  # hand of seat s: eight digits
            **{f"agent_{s}": name for s in range(NUM_SEATS)},  # agent at seat s
            "dealer": pa.int8(),
            "score_0": pa.int16(),  # points of seats 0 and 2 before the round
            "score_1": pa.int16(),  # points of seats 1 and 3 before the round
            "winner": pa.int8(),  # seat that ended the round; -1: it is dealt again
            "won": pa.int16(),  # points of the round, to the winner's team
        }
    decisions = {
        **key,
        "move": pa.int16(),  # number of the decision in the deal, from 0
        "seat": pa.int8(),  # seat that decided
        "agent": name,  # agent that decided
        "method": text,  # method of training, for agents of the population; else empty
        "split": text,  # its part of the population; else empty
        # The seat's packed view, View.words: bit b of word w is bit 64 w + b of the observation.
        "words": pa.list_(pa.uint64(), words),
        "mask_low": pa.uint64(),  # bit a: action a is legal
        "mask_high": pa.uint16(),  # bit a: action 64 + a is legal
        "action": pa.int8(),  # action taken
        "probabilities": pa.list_(pa.float32()),  # of the legal actions, ascending
        "points": pa.int16(),  # of the round for the seat's team, below 0 if it lost
    }
    if belief:
        for seat in RELATIVE_SEATS:
            # By the exact listener of the acting seat, in nats: the log-probability of the hand
            # that this other seat was dealt, and the entropy of the belief about that hand.
            decisions[f"log_probability_{seat}"] = pa.float32()
            decisions[f"entropy_{seat}"] = pa.float32()
    return decisions


def tables(play: Play, belief: dict[str, Array], metadata: bytes) -> tuple[pa.Table, pa.Table]:
    """Returns a play as tables of deals and of decisions.

    ``belief`` has further columns of decisions, [D] each; ``metadata``: of both, as JSON.
    """
    pa = arrow()
    names = pa.array(play.agents)
    texts = [format_hand(hand) for hand in play.hands.reshape(-1, NUM_KINDS)]
    hands = np.array(texts).reshape(-1, NUM_SEATS)
    deals = {"round": play.round, "redeal": play.redeal}
    deals |= {f"dealt_{s}": pa.array(hands[:, s]).dictionary_encode() for s in range(NUM_SEATS)}
    deals |= {
        f"agent_{s}": pa.DictionaryArray.from_arrays(play.seating[:, s], names)
        for s in range(NUM_SEATS)
    }
    deals |= {"dealer": play.dealer, "score_0": play.scores[:, 0], "score_1": play.scores[:, 1]}
    deals |= {"winner": play.winner, "won": play.points}
    agent = play.seating[play.deal, play.seat]
    # ``gained`` is of seats 0 and 2: the sign is the other one for seats 1 and 3.
    gained = play.gained[play.deal] * np.where(play.seat % 2 == 0, 1, -1)
    # A list column has all lists in one array, and the bounds between them.
    bounds = np.concatenate(([0], play.legal.sum(axis=1).cumsum())).astype(np.int32)
    # The methods of all agents, then their splits; ``take`` gives each decision its agent's.
    origins = zip(*(origin(name) for name in play.agents), strict=True)
    method, split = (pa.array(names).take(pa.array(agent)).dictionary_encode() for names in origins)
    decisions = {
        "round": play.round[play.deal],
        "redeal": play.redeal[play.deal],
        "move": play.move,
        "seat": play.seat,
        "agent": pa.DictionaryArray.from_arrays(agent, names),
        "method": method,
        "split": split,
        "words": pa.FixedSizeListArray.from_arrays(play.words.ravel(), play.information.num_words),
        "mask_low": (play.legal[:, :64] * _BITS).sum(axis=1, dtype=np.uint64),
        "mask_high": (play.legal[:, 64:] * _BITS[: play.legal.shape[1] - 64])
        .sum(axis=1, dtype=np.uint64)
        .astype(np.uint16),
        "action": play.action,
        "probabilities": pa.ListArray.from_arrays(bounds, play.probabilities[play.legal]),
        "points": gained.astype(np.int16),
    }
    decisions |= {name: values.astype(np.float32) for name, values in belief.items()}
    return tuple(
        pa.table(columns).replace_schema_metadata({KEY: metadata}) for columns in (deals, decisions)
    )


def play_of(deals: pa.Table, decisions: pa.Table, metadata: dict[str, Any]) -> Play:
    """Returns the play that tables hold; ``metadata``: of their files.

    It is a ValueError if they do not fit together.
    """
    agents = tuple(metadata["agents"])
    round_, redeal = _numpy(deals, "round"), _numpy(deals, "redeal").astype(np.int8)
    # One number for round and redeal, which is below 128: equal numbers mean the same deal.
    dealt = round_ * 128 + redeal
    key = _numpy(decisions, "round") * 128 + _numpy(decisions, "redeal")
    deal = np.searchsorted(dealt, key)
    if (np.diff(deal) < 0).any() or (dealt.take(deal, mode="clip") != key).any():
        raise ValueError("expected decisions of the deals in the log, in order, got others")
    information = InformationStructure.from_keys(metadata)
    legal = np.zeros((len(decisions), information.num_actions), bool)
    legal[:, :64] = (_numpy(decisions, "mask_low")[:, None] & _BITS) != 0
    high = _numpy(decisions, "mask_high").astype(np.uint64)[:, None]
    legal[:, 64:] = (high & _BITS[: information.num_actions - 64]) != 0
    probabilities = np.zeros(legal.shape, np.float32)
    probabilities[legal] = _flat(decisions, "probabilities")
    seating = [_agent_indices(deals, f"agent_{seat}", agents) for seat in range(NUM_SEATS)]
    play = Play(
        agents=agents,
        rules=Rules.from_keys(metadata),
        seed=int(metadata["seed"]),
        round=round_,
        redeal=redeal,
        hands=np.stack([_hands(deals, f"dealt_{seat}") for seat in range(NUM_SEATS)], axis=1),
        dealer=_numpy(deals, "dealer"),
        scores=np.stack([_numpy(deals, "score_0"), _numpy(deals, "score_1")], axis=1),
        seating=np.stack(seating, axis=1).astype(np.int8),
        winner=_numpy(deals, "winner"),
        points=_numpy(deals, "won"),
        deal=deal,
        move=_numpy(decisions, "move"),
        seat=_numpy(decisions, "seat"),
        words=_flat(decisions, "words").reshape(-1, information.num_words),
        legal=legal,
        action=_numpy(decisions, "action"),
        probabilities=probabilities,
        information=information,
    )
    check_columns(vars(play), play.columns())
    return play


def _numpy(table: pa.Table, name: str) -> Array:
    return np.asarray(table.column(name).to_numpy())


def _flat(table: pa.Table, name: str) -> Array:
    return np.asarray(table.column(name).combine_chunks().flatten().to_numpy())


def _texts(table: pa.Table, name: str) -> tuple[list[str], Array]:
    """Returns the different texts of a column, and the index of each row's text."""
    column = table.column(name).cast("string").combine_chunks().dictionary_encode()
    return column.dictionary.to_pylist(), column.indices.to_numpy(zero_copy_only=False)


def _agent_indices(table: pa.Table, name: str, agents: tuple[str, ...]) -> Array:
    texts, index = _texts(table, name)
    if unknown := [text for text in texts if text not in agents]:
        raise ValueError(f"expected agents of {agents!r} as {name!r}, got {unknown[0]!r}")
    return np.array([agents.index(text) for text in texts], np.int8)[index]


def _hands(table: pa.Table, name: str) -> npt.NDArray[np.int8]:
    texts, index = _texts(table, name)
    counts = [[text.count(digit) for digit in DIGITS] for text in texts]
    return np.array(counts, np.int8).reshape(-1, len(DIGITS))[index]
