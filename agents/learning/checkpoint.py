"""Saves all that a training goes on from, and reads it back.

A checkpoint holds pickled objects, as every model that stable-baselines3 saves: open only your own.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any, Final

from agents.learning.ppo import SelfPlayPPO
from agents.learning.storage import write
from goita_env.errors import SettingError

GAMES: Final = "games.pkl"
"""Member of the checkpoint beside those of stable-baselines3."""


def save_checkpoint(model: SelfPlayPPO, path: Path, beside: Any = None) -> None:
    """Writes the model and its games.

    Args:
        model: between two rollouts.
        path: of the file.
        beside: anything else that belongs to this moment.
    """
    file = io.BytesIO()
    model.save(file)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(GAMES, pickle.dumps((model.under_way(), beside)))
    write(path, file.getvalue())


def load_checkpoint(path: Path, device: str = "cpu") -> tuple[SelfPlayPPO, Any]:
    """Returns a model that goes on exactly where it was saved, and what was saved beside it.

    Raises:
        SettingError: if the file is no checkpoint.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            games, beside = pickle.loads(archive.read(GAMES))
        model = SelfPlayPPO.load(path, env=games["env"], device=device)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, pickle.UnpicklingError) as error:
        raise SettingError(f"expected a checkpoint, got {path}: {error!r}") from error
    model.go_on(games)
    return model, beside
