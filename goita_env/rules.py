"""States the three rule sets as values: one field for each point on which the source texts differ.

The texts: the booklet of the Japan Goita Association (JGA, second revision 2016, articles A to D),
the pagat.com page on Goita (John McLeod, 2016), and a page with nine kinds on paper (the two kings
differ there). Where a text is silent, the booklet holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from goita_env.errors import SettingError

Duty = Literal["choice", "duty"]


@dataclass(frozen=True)
class Rules:
    """Holds one rule set; every field is a point on which the source texts differ.

    The default of each field is the booklet's rule, so ``Rules(name="mine", last_king=False)`` is
    a rule set of your own.
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
    as soon as both have been asked, whatever they answered (nine-kinds page: "have")."""

    opponents_fives: Literal["both partners choose", "redeal"] = "both partners choose"
    """Opponents who both called five: a redeal if both partners choose it (booklet B), or at once
    (nine-kinds page)."""


JGA: Final = Rules(name="jga")
"""The official booklet; the default."""

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

RULE_SETS: Final = {rules.name: rules for rules in (JGA, PAGAT, NINE)}


def get_rules(rules: str | Rules) -> Rules:
    """Returns the rule set of a name; a ``Rules`` value is handed back as it is.

    Raises:
        SettingError: if the name is unknown.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str) and rules in RULE_SETS:
        return RULE_SETS[rules]
    raise SettingError(f"expected a Rules value or one of {sorted(RULE_SETS)}, got {rules!r}")
