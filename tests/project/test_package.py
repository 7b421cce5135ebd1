"""The wheel: what it ships and needs; ``make dist`` installs it and runs the pages."""

import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import goita_env

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command and return what it printed; fail with all that it said."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_citation_names_the_latest_release_and_a_checkout_is_after_it():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version = re.search(r"^version: (\S+)$", text, re.MULTILINE)[1]
    date = re.search(r"^date-released: (\S+)$", text, re.MULTILINE)[1]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.search(r"^## \[(\d\S*)\] - (\S+)$", changes, re.MULTILINE)
    assert released.groups() == (version, date)  # the latest
    # Weights and code of a checkout are none that a release had.
    assert goita_env.__version__ == version or (
        goita_env.__version__.endswith(".dev0") and goita_env.__version__ > version
    )
    about = (ROOT / "docs" / "about.md").read_text(encoding="utf-8")
    assert f"version = {{{goita_env.__version__}}}" in about


def test_every_extra_that_is_spoken_of_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    folders = [ROOT / name for name in ("goita_env", "agents", "goita_lab", "examples", "docs")]
    inside = [file for folder in folders for file in folder.rglob("*.[mp][dy]")]
    # The changelog speaks of extras that were.
    files = [file for file in (*ROOT.glob("*.md"), *inside) if file.name != "CHANGELOG.md"]
    texts = [file.read_text(encoding="utf-8") for file in files if "_build" not in file.parts]
    lists = re.findall(r"(?:extra |\.|goita-env|whl)`?\[([a-z,]+)\]", "\n".join(texts))
    spoken = {name for names in lists for name in names.split(",")}
    assert len(spoken) > 5
    assert spoken <= set(project["optional-dependencies"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel with the installed backend, so that no network is needed."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    run(*build, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_ships_the_whole_package_and_nothing_else(wheel):
    assert wheel.name == f"goita_env-{goita_env.__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    dist_info = f"goita_env-{goita_env.__version__}.dist-info"
    layers = {"goita_env": ROOT, "goita_agents": ROOT / "agents", "goita_lab": ROOT}
    assert {name.split("/")[0] for name in names} == {*layers, dist_info}
    examples = {f"goita_lab/{path.relative_to(ROOT)}" for path in (ROOT / "examples").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == examples | {
        path.relative_to(root).as_posix()
        for layer, root in layers.items()
        for path in (root / layer).rglob("*.py")
    }
    assert not {name for name in names if name.endswith((".ipynb", ".parquet"))}
    for file in (
        *("goita_env/py.typed", "goita_agents/py.typed", "goita_lab/py.typed"),
        *("goita_env/render/glyphs.json", "goita_agents/champion/policy.safetensors"),
        *("goita_lab/pages/japanese.json", "goita_lab/arena/report/templates/page.html"),
    ):
        assert file in names
    assert wheel.stat().st_size < 30 << 20
    assert f"{dist_info}/licenses/LICENSE" in names
    assert f"{dist_info}/licenses/goita_env/render/OFL.txt" in names


def test_the_core_needs_numpy_gymnasium_and_pettingzoo_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"goita_env-{goita_env.__version__}.dist-info/METADATA").decode()
    metadata = message_from_string(text)
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert sorted(needed) == ["gymnasium<1.5,>=1.2", "numpy>=2", "pettingzoo>=1.25"]
    assert metadata["License-Expression"] == "MIT AND OFL-1.1"
