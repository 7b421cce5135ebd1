"""Sentences that can be translated: they keep the text and the values that they were made of.

A table of another language has the English texts as keys::

    japanese = Language({"{who} passes": "{who}：なし", "next": "次"})
    japanese(Phrase("{who} passes", who="next"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final


class Phrase(str):
    """An English sentence, and the text with names in braces that it was made of.

    Attributes:
        text: the text.
        values: the values for the names in it: sentences, texts or numbers.
    """

    __slots__ = ("text", "values")

    text: str
    values: dict[str, object]

    def __new__(cls, text: str, **values: object) -> Phrase:
        phrase = super().__new__(cls, text.format(**values) if values else text)
        phrase.text, phrase.values = text, values
        return phrase

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.text, self.values)


class Joined(Phrase):
    """Sentences, joined by a separator, which is a text of its own."""

    __slots__ = ("parts",)

    parts: tuple[str, ...]

    def __new__(cls, separator: str, parts: Iterable[str]) -> Joined:
        parts = tuple(parts)
        joined = str.__new__(cls, separator.join(parts))
        joined.text, joined.values, joined.parts = separator, {}, parts
        return joined

    def __reduce__(self) -> tuple[object, ...]:
        return Joined, (self.text, self.parts)


def _rebuilt(text: str, values: dict[str, object]) -> Phrase:
    return Phrase(text, **values)


class Language:
    """A language that sentences are translated into.

    Args:
        table: its texts by the English ones; what is missing stays English, as names do.
    """

    def __init__(self, table: Mapping[str, str] | None = None) -> None:
        self.table: Mapping[str, str] = {} if table is None else table

    def __call__(self, text: str, **values: object) -> str:
        """Translates a sentence, or a text with values for the names in braces."""
        if isinstance(text, Joined):
            return self(text.text).join(map(self, text.parts))
        phrase = Phrase(text, **values) if values or not isinstance(text, Phrase) else text
        translation = self.table.get(phrase.text, phrase.text)
        if not phrase.values:
            return translation
        return translation.format(
            **{
                name: self(value) if isinstance(value, str) else value
                for name, value in phrase.values.items()
            }
        )


ENGLISH: Final = Language()
