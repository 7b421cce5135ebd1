"""Makes the pages of a round that the site embeds: its replay and its analysis.

The analysis takes half a minute the first time. Its finished decisions stay beside the site, and
are used again as long as the agents and their version are the same.
"""

from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from goita_env.errors import SettingError
from goita_lab.pages import watch

ROUND: Final = (
    "11113445,22334689,11122357,11145567,"
    "s3,317,475,1p,2p,352,4p,1p,223,332,4p,1p,228,3p,4p,1p,249,3p,4p,1p,236"
)


def analysed(keep: Path | None = None) -> tuple[str, str]:
    """Returns the pages of the round: its replay and its analysis.

    ``keep``: a file for finished decisions.
    """
    source = replace(watch.read(ROUND), title="A round")
    try:
        analysis = watch.analyse(source, "champion", keep=keep)
    except SettingError:  # the file is of another version
        if keep is None or not keep.exists():
            raise
        keep.unlink()
        analysis = watch.analyse(source, "champion", keep=keep)
    return watch.page(source), watch.page(source, analysis)


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx copy the pages to the static files of the site."""
    app.connect("builder-inited", _begin)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True}


_analysis: list[Future[tuple[str, str]]] = []  # a search of some seconds a decision


def _begin(app: Any) -> None:
    """Analyses in a process of its own, while the pages are built."""
    if app.builder.format == "html":
        workers = ProcessPoolExecutor(1, get_context("spawn"))
        _analysis[:] = [workers.submit(analysed, Path(app.doctreedir) / "analysis.parts")]
        workers.shutdown(wait=False)


def _write(app: Any, error: Exception | None) -> None:
    if error is None and _analysis:
        replay, analysis = _analysis.pop().result()
        static = Path(app.outdir) / "_static"
        (static / "replay.html").write_text(replay, encoding="utf-8")
        (static / "analysis.html").write_text(analysis, encoding="utf-8")
