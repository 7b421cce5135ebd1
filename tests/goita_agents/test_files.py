"""Files that are there whole or not at all."""

import pytest

from goita_agents import files
from goita_agents.files import write_whole


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_file_is_written_and_written_over_in_a_folder_that_is_there(tmp_path):
    write_whole(tmp_path / "page", "ö")
    write_whole(tmp_path / "page", b"new")
    assert (tmp_path / "page").read_bytes() == b"new"
    assert names(tmp_path) == ["page"]
    with pytest.raises(FileNotFoundError, match="no/page"):
        write_whole(tmp_path / "no" / "page", "new")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_whatever_stops_it_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch, error):
    def fails(_):
        raise error

    (tmp_path / "page").write_text("old")
    monkeypatch.setattr(files.os, "fsync", fails)
    with pytest.raises(type(error)) as raised:
        write_whole(tmp_path / "page", "new")
    if isinstance(error, OSError):
        assert str(raised.value).endswith(f"No space left on device: {str(tmp_path / 'page')!r}")
    assert (tmp_path / "page").read_text() == "old"
    assert names(tmp_path) == ["page"]
