"""Makes replay and analysis pages of recorded games: one HTML file each, which needs no other.

::

    goita watch game.yaml -o page.html            a kifu, a history string, saved games
    goita watch games/ --deal 5-9 -o page.html   some deals of many
    goita watch game.yaml --analyse champion -o page.html --json analysis.json

The page steps by keys, buttons and its list of moves, shows all hands or what each seat saw, and
keeps deal, move and seat in its address (``page.html#3.12``). With ``--analyse`` it says what every
decision was worth (``docs/analysis.md``). The command keeps what it has analysed in
``page.html.parts`` and continues from there after a stop.
"""

from typing import TYPE_CHECKING, Any

from goita_lab.pages.watch.pages import page, to_json
from goita_lab.pages.watch.reading import read

if TYPE_CHECKING:
    from goita_lab.pages.watch.analysis import analyse

__all__ = ["analyse", "page", "read", "to_json"]


def __getattr__(name: str) -> Any:
    """Imports the analysis when it is first used: it needs numba, of the extra ``[agents]``."""
    if name == "analyse":
        from goita_lab.pages.watch import analysis

        return analysis.analyse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
