"""``goita examples`` writes the programs that pages speak of, and overwrites nothing."""

from pathlib import Path

from goita_lab.commands import examples
from programs import refusal

ROOT = Path(__file__).resolve().parents[2]


def test_the_examples_are_written_without_logs_and_notebooks(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "mine"
    assert examples.main(["-o", str(folder)]) == 0
    written = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert capsys.readouterr().out == f"{len(written)} files in {folder}\n"
    whole = {path.relative_to(ROOT / "examples") for path in (ROOT / "examples").rglob("*.py")}
    assert {path for path in written if path.suffix == ".py"} == whole
    assert {"bot_node.js", "train.sh", "Dockerfile"} <= {path.name for path in written}
    assert not {".ipynb", ".parquet"} & {path.suffix for path in written}
    assert "new or empty folder" in refusal(capsys, examples.main, ["-o", str(folder)])
    monkeypatch.setattr(examples, "PLACES", (tmp_path / "none", folder))  # as in a wheel
    assert examples.main(["-o", str(tmp_path / "again")]) == 0
