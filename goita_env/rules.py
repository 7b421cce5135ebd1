"""States the rule sets as values: one field for each point on which the source texts differ.

The texts: the booklet of the Japan Goita Association (JGA, second revision 2016, articles A to D),
the pagat.com page on Goita (John McLeod, 2016), and a page with nine kinds on paper (the two kings
differ there). Where a text is silent, the booklet holds.

Here is what differs; what the rules say is in ``engine.rulebook``. Small games, which no text has,
are the booklet's rules with fewer tiles (``Rules.deck``): policies are evaluated exactly there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_type_hints

from goita_env.checks import is_writable, read_limited, unique_keys
from goita_env.errors import SettingError
from goita_env.tiles import COUNTS, MATCH_POINTS, NUM_KINDS, NUM_SEATS

Duty = Literal["choice", "duty"]

T = TypeVar("T")

RULE_SETS: Final[dict[str, Rules]] = {}
"""The rule sets of the texts, and small games, by name; filled below."""

SMALL_DECK: Final = 16
"""Tiles of a small game: four in each hand."""


def _is_deck(value: object) -> bool:
    """Tells whether a value is a deck: whole numbers of each kind."""
    if not isinstance(value, tuple) or len(value) != NUM_KINDS:
        return False
    whole = all(
        type(count) is int and 0 <= count <= limit
        for count, limit in zip(value, COUNTS, strict=True)
    )
    return whole and sum(value) in (sum(COUNTS), SMALL_DECK)


@dataclass(frozen=True)
class Rules:
    """A rule set; each field is a point on which texts or players differ.

    The default of each field is the booklet's rule, so ``Rules(name="mine", last_king=False)`` is
    a rule set of your own.

    Raises:
        SettingError: if a field has an invalid value, or the name of a text's rule set comes with
            other fields than those of this rule set.
    """

    name: str
    """Name by which environments and records know the rule set."""

    call_five: Duty = "choice"
    """Showing five pawns: "may announce" (booklet B; nine-kinds page: "optional"), or a duty
    ("are shown to the other players", pagat)."""

    call_six_or_more: Duty = "choice"
    """Showing six or more: a choice (booklet B), or a duty (pagat; nine-kinds page: "checked at
    deal time", only five is called optional)."""

    last_king: bool = True
    """The king may attack as the eighth tile under any condition (booklet, special rule on kings,
    3); the other texts don't say so."""

    second_king_after_own_face_down: bool = True
    """A seat that was dealt both kings may attack with the second after it laid the first face down
    in an earlier turn. The booklet speaks only of having both; existing programs allow it. The
    other texts want both "in your hand"."""

    six_alike_doubles: bool = True
    """Six pawns and two tiles alike score double (booklet B; nine-kinds page); pagat: never."""

    kings_are_alike: bool = True
    """The two kings count as alike, for a doubled finish and for six pawns; on the nine-kinds page
    they are two kinds."""

    partners_fives_win: Literal["called", "held"] = "called"
    """Partners with five pawns each win 150: when both have called (booklet B: "both revealed"), or
    as soon as both have answered, whatever they answered (nine-kinds page: "have")."""

    opponents_fives: Literal["choice", "redeal"] = "choice"
    """Opponents who both called five: a redeal if both partners choose it (booklet B), or at once
    (nine-kinds page)."""

    match_points: int = MATCH_POINTS
    """A match ends when a team has this many points, a multiple of ten from 10 to 150. The texts
    say 150; clubs and other programs play to other totals, too."""

    deck: tuple[int, ...] = COUNTS
    """Tiles of each kind: the full set of 32, or 16 of its tiles. With 16 each seat is dealt four
    tiles and makes two plays at most, so there are no special hands of pawns. In small games an
    episode is one round: there are no matches, and no points before a round."""

    def __post_init__(self) -> None:
        if isinstance(self.deck, list):  # JSON has no tuples
            object.__setattr__(self, "deck", tuple(self.deck))
        for field, hint in get_type_hints(Rules).items():
            value, choices = getattr(self, field), get_args(hint)
            if hint is str:
                expected, is_valid = "a text", isinstance(value, str) and value != ""
                if is_valid and not is_writable(value):
                    expected, is_valid = "a text that UTF-8 can write", False
            elif hint is bool:
                expected, is_valid = "True or False", isinstance(value, bool)
            elif hint is int:
                expected = f"a multiple of ten from 10 to {MATCH_POINTS}"
                is_valid = type(value) is int and value in range(10, MATCH_POINTS + 1, 10)
            elif field == "deck":
                expected = f"{list(COUNTS)}, or {SMALL_DECK} tiles of these,"
                is_valid = _is_deck(value)
            else:
                expected, is_valid = " or ".join(map(repr, choices)), value in choices
            if not is_valid:
                raise SettingError(
                    f"expected {expected} as {field} of the rule set {self.name!r}, got {value!r}"
                )
        # ``RULE_SETS`` has no set of the name yet while this module builds those of the texts.
        official = RULE_SETS.get(self.name, self)
        for field, value in asdict(official).items():
            if getattr(self, field) != value:
                raise SettingError(
                    f"expected {value!r} as {field} of the rule set {self.name!r}, or another "
                    f"name, got {getattr(self, field)!r}"
                )

    @property
    def hand_size(self) -> int:
        """Tiles in a dealt hand: 8, or 4 in a small game."""
        return sum(self.deck) // NUM_SEATS

    @property
    def scores_below(self) -> int:
        """The points of a team before a round are below this: 10 in a small game, so always 0."""
        return 10 if self.is_small else self.match_points

    @property
    def is_small(self) -> bool:
        """Whether this is a small game, which is not played with the full set."""
        return self.deck != COUNTS

    def to_keys(self) -> dict[str, Any]:
        """Returns the keys of a JSON object that describe the rule set.

        The key "rules" is the name. A rule set of your own also has the key "rules_fields" with all
        other fields, except the deck if it is the full one.
        """
        if self.name in RULE_SETS:
            return {"rules": self.name}
        own = asdict(self)
        deck = list(own.pop("deck"))
        return {
            "rules": own.pop("name"),
            "rules_fields": own | ({"deck": deck} if self.is_small else {}),
        }

    @classmethod
    def from_keys(cls, keys: Mapping[str, Any]) -> Rules:
        """Returns the rule set that ``to_keys`` wrote.

        Raises:
            SettingError: if the keys describe no rule set.
        """
        name, own = keys.get("rules"), keys.get("rules_fields")
        if own is None:
            return get_rules(name)  # type: ignore[arg-type]  # it refuses a name that is no text
        if not isinstance(own, dict):
            raise SettingError(f"expected a table of fields as 'rules_fields', got {own!r}")
        return _from_table({**own, "name": name})


JGA: Final = Rules(name="jga")
"""The rule set of the official booklet; the default."""

PAGAT: Final = Rules(
    name="pagat",
    call_five="duty",
    call_six_or_more="duty",
    last_king=False,
    second_king_after_own_face_down=False,
    six_alike_doubles=False,
)
"""The pagat.com page."""

NINE: Final = Rules(
    name="nine",
    call_six_or_more="duty",
    last_king=False,
    second_king_after_own_face_down=False,
    kings_are_alike=False,
    partners_fives_win="held",
    opponents_fives="redeal",
)
"""The page with nine kinds on paper."""

MINI_3: Final = Rules(name="mini_3", deck=(8, 4, 0, 0, 4, 0, 0, 0))
"""A small game of three kinds: 8 pawns, 4 lances and 4 golds."""

MINI_4: Final = Rules(name="mini_4", deck=(6, 4, 0, 0, 4, 0, 0, 2))
"""A small game of four kinds: 6 pawns, 4 lances, 4 golds and both kings."""

MINI_5: Final = Rules(name="mini_5", deck=(6, 3, 0, 0, 3, 0, 2, 2))
"""A small game of five kinds: 6 pawns, 3 lances, 3 golds, 2 rooks and both kings."""

RULE_SETS.update({rules.name: rules for rules in (JGA, PAGAT, NINE, MINI_3, MINI_4, MINI_5)})


def get_rules(rules: str | Rules) -> Rules:
    """Returns the rule set with a name; a ``Rules`` value is returned as it is.

    Raises:
        SettingError: if the name is unknown.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str) and rules in RULE_SETS:
        return RULE_SETS[rules]
    raise SettingError(f"expected a Rules value or one of {sorted(RULE_SETS)}, got {rules!r}")


def read_rules(text: str) -> Rules:
    """Returns the rule set that a command line names.

    Args:
        text: the name of a text's rule set, or the path of a JSON file with the fields of one of
            your own: ``{"name": "mine", "last_king": false}``. What it leaves out is the booklet's.

    Raises:
        SettingError: if the name is unknown, or the file cannot be read or holds no rule set.
    """
    if not text.endswith(".json"):
        try:
            return get_rules(text)
        except SettingError as error:
            raise SettingError(f"{error}; a file's name ends in .json") from None
    return read_table(text, _from_table, "rules")


MAX_TABLE_BYTES: Final = 1 << 20
"""Largest size of a file of rules or of information options."""


def read_table(path: str, build: Callable[[Any], T], what: str) -> T:
    """Returns the value that a small JSON file describes.

    Args:
        path: the file.
        build: returns the value for the file's content, or raises a SettingError.
        what: the name of such values, for errors.
    """
    try:
        text = read_limited(Path(path), MAX_TABLE_BYTES).decode("utf-8")
        return build(json.loads(text, object_pairs_hook=unique_keys))
    except SettingError as error:
        raise SettingError(f"{path}: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SettingError(f"expected a JSON file of {what}, got {path!r}: {error}") from error


def _from_table(table: object) -> Rules:
    if not isinstance(table, dict) or "name" not in table:
        raise SettingError(f"expected a table of fields with a 'name', got {table!r}")
    fields = list(Rules.__dataclass_fields__)
    if unknown := sorted(table.keys() - fields):
        raise SettingError(f"expected fields of {fields}, got {unknown}")
    return Rules(**table)
