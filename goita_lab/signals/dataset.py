"""Makes a data set of the population's play: two logs, a data card, a Croissant description.

The folder holds a log of members that may be trained with, ``train``, and one of those held out,
``validation``. No round has players of both. README.md is the data card, by which Hugging Face
``datasets`` loads the folder; croissant.json describes it in the format Croissant 1.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader

import goita_env
from goita_agents.files import json_text, write_whole
from goita_agents.population import METHODS, origin
from goita_agents.registry import expand
from goita_env.errors import SettingError
from goita_lab.signals import log
from goita_lab.signals.log.columns import FOLDERS, TABLES, TEXT, Column, columns

SPLITS: Final = {"train": "population:train", "validation": "population:validation"}
"""Parts of a data set, and the agents whose play they hold."""
VALIDATION_SHARE: Final = 5
"""One round of so many is played by agents that are held out."""
SEEDS: Final = {"train": 0, "validation": 1}
"""Added to the seed, so that no deal is in both parts."""

LICENSE: Final = "MIT"


def make(folder: Path, rounds: int, *, seed: int = 0, workers: int = 1) -> Iterator[int]:
    """Plays a data set, or goes on with one; yields its rounds so far.

    Raises:
        SettingError: if there are too few rounds for both parts.
        LogError: if the folder holds another data set; it is left as it is.
        ImportError: if pyarrow is missing.
    """
    if rounds < VALIDATION_SHARE:
        raise SettingError(f"expected {VALIDATION_SHARE} rounds or more, got {rounds!r}")
    validation = rounds // VALIDATION_SHARE
    many = {"train": rounds - validation, "validation": validation}
    before = 0
    for split, texts in SPLITS.items():
        written = log.write(
            folder / split,
            expand([texts]),
            many[split],
            seed=seed + SEEDS[split],
            workers=workers,
            drawn=True,
        )
        for done in written:
            yield before + done
        before += many[split]
    decisions = {split: len(log.read(folder / split).deal) for split in SPLITS}
    write_whole(folder / "README.md", _card(many, decisions, seed))
    write_whole(folder / "croissant.json", json_text(croissant()))


@cache
def _page() -> Any:
    loader = PackageLoader(__package__, "templates")
    return Environment(loader=loader, autoescape=False).get_template("data_card.md")


def _card(rounds: dict[str, int], decisions: dict[str, int], seed: int) -> str:
    """Returns the data card."""
    players: dict[str, dict[str, list[str]]] = {}
    for split, texts in SPLITS.items():
        for agent in expand([texts]):
            method = origin(agent)[0]
            players.setdefault(split, {}).setdefault(method, []).append(agent)
    total = sum(decisions.values())
    return str(
        _page().render(
            players=players,
            folders=FOLDERS,
            methods=METHODS,
            rounds=rounds,
            decisions=decisions,
            size=_size(total),
            seed=seed,
            license=LICENSE.lower(),
            version=goita_env.__version__,
            format=log.FORMAT,
            tables={table: columns(table) for table in TABLES},
            text=TEXT,
        )
    )


def _size(rows: int) -> str:
    """Returns the category of so many rows, as data cards name it."""
    steps = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
    return next((name for most, name in steps.items() if rows < most), "1M<n<10M")


def croissant() -> dict[str, Any]:
    """Returns the description of a data set in Croissant 1.0, as JSON-LD."""
    files, records = [], []
    for split in SPLITS:
        for table in TABLES:
            name = f"{split}-{table}"
            files.append(
                {
                    "@type": "cr:FileSet",
                    "@id": f"{name}-files",
                    "name": f"{name}-files",
                    "encodingFormat": "application/x-parquet",
                    "includes": f"{split}/{FOLDERS[table]}/{table}-*.parquet",
                }
            )
            records.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": name,
                    "name": name,
                    "description": f"{table} of the rounds of {SPLITS[split]}, a row each",
                    "field": [_field(column, name) for column in columns(table)],
                }
            )
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "goita-population",
        "description": "Rounds of Goita, a tile game of two partnerships with hidden hands, "
        "between trained players of several methods: every decision with its observation, legal "
        "actions, policy and outcome.",
        "license": f"https://spdx.org/licenses/{LICENSE}.html",
        "version": goita_env.__version__,
        "datePublished": date.today().isoformat(),
        "creator": {"@type": "sc:Organization", "name": "The goita-env authors"},
        "citeAs": "The goita-env authors: goita-env, CITATION.cff",
        "distribution": files,
        "recordSet": records,
    }


def _field(column: Column, record: str) -> dict[str, Any]:
    kinds = {"float32": "sc:Float", "text": "sc:Text", "name": "sc:Text"}
    found: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{record}/{column.name}",
        "name": column.name,
        "description": column.text,
        "dataType": kinds.get(column.type, "sc:Integer"),
        "source": {"fileSet": {"@id": f"{record}-files"}, "extract": {"column": column.name}},
    }
    return found if column.length == 1 else {**found, "repeated": True}


_CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that Croissant 1.0 prescribes."""
