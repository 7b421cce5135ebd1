"""What an agent is made of: every file counts that its text, its class or the agent names."""

import os
import subprocess
import sys
from hashlib import sha256

import pytest

from goita_agents import identity, load_agent, registry
from goita_agents.bots.network_file import write_network
from goita_agents.identity import Identities, digest

BOT = """
import helper

class Bot:
    def __init__(self, path="", paths: tuple[str, ...] = (), default="by_default.txt", listed="",
                 defaults: tuple[str, ...] = ("also_by_default.txt",),
                 written=""):
        self.files, self.outputs = tuple(filter(None, [listed])), (written,)

    def act(self, view, legal, rng):
        from inner import late
        return legal.argmax(axis=1)
"""
FILES = {
    "bots.py": BOT,
    "helper.py": "import importlib, numpy, sys\nimportlib.import_module('com' + 'puted')\n",
    "computed.py": "",
    "inner/__init__.py": "from . import sibling\n",
    "inner/late.py": "from .deep import other\n",
    "inner/sibling.py": "",
    "inner/deep.py": "other = 1\n",
    "unused.py": "",
    "by_default.txt": "",
    "also_by_default.txt": "",
    "weights.bin": "1",
    "listed.bin": "1",
    "folder/a.txt": "1",
    "folder/below/b.txt": "1",
    "greedy": "",
}
MODULES = ("bots", "helper", "computed", "inner", "hosted")


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A working directory with a class, what it imports, and files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    yield tmp_path
    for name in [*sys.modules]:
        if name.partition(".")[0] in MODULES:
            del sys.modules[name]


TEXT = "mine=bots:Bot:path=weights.bin,paths=(folder/a.txt;folder),listed=listed.bin"


@pytest.mark.parametrize("name", sorted({*FILES} - {"unused.py", "greedy"}))
def test_a_file_that_a_class_its_options_or_its_attribute_name_counts(place, name):
    before = digest(TEXT)
    assert digest(f"rollout:base=({TEXT.partition('=')[2]})") == before
    (place / name).write_text(FILES[name] + "# another\n")
    assert digest(TEXT) != before
    (place / name).write_text(FILES[name])
    assert digest(TEXT) == before


def test_what_an_agent_does_not_name_or_writes_itself_does_not_count(place):
    text = f"{TEXT},written=./weights.bin"
    before = digest(text)
    for name in ("unused.py", "greedy", "weights.bin", "folder/__pycache__/a.pyc"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("other")
    assert digest(text) == before
    assert {digest(spec) for spec in ("greedy", "rollout:base=greedy")} == {None}
    for name in ("folder/c.txt", "folder/below/c.txt"):
        (place / name).write_text("")
        assert digest(text) != before
        (place / name).unlink()
    (place / "folder/a.txt").rename(place / "folder/z.txt")
    assert digest(text) != before


def test_a_module_that_another_agent_has_loaded_counts_for_both(place):
    (place / "others.py").write_text(BOT)
    first, second = digest("bots:Bot"), digest("others:Bot")
    (place / "inner/deep.py").write_text("other = 2\n")
    assert digest("bots:Bot") != first
    assert digest("others:Bot") != second


def test_one_file_is_its_own_hash_and_so_is_a_network(place):
    (place / "hosted.py").write_text("class Bot:\n    act = None\n    def act(self, *_): ...\n")
    assert digest("hosted:Bot") == sha256((place / "hosted.py").read_bytes()).hexdigest()
    network = load_agent("champion").untrained(1)
    paths = [place / name for name in ("a.safetensors", "b.safetensors")]
    for path, agent in zip(paths, (network, network.untrained(2)), strict=True):
        path.write_bytes(write_network(agent.info, agent.tensors()))
    assert digest(f"x=file:{paths[0]},temperature=1") == network.digest
    assert digest(f"rollout:base=(file:{paths[0]}),worlds=4") == network.digest
    assert digest(f"rollout:base=(file:{paths[1]}),worlds=4") != network.digest
    with pytest.raises(FileNotFoundError):
        digest("file:no/such/file")


@pytest.mark.parametrize(
    ("command", "counts"),
    [
        ("./program weights.bin", ("program", "weights.bin")),
        ("[ms=200]env X=1 ./program --load=weights.bin", ("program", "weights.bin")),
        ("sh -c './program \"weights.bin\" | cat'", ("program", "weights.bin")),
        ("python greedy", ("greedy",)),
        ("env ./program greedy", ("program", "greedy")),
        ("env program", ("program",)),
        ("python 'unbalanced", ()),
        ("goita bot bots:Bot:path=weights.bin", ("bots.py", "helper.py", "inner/deep.py")),
        ("goita bot x=bots:Bot:path=weights.bin", ("weights.bin",)),
        ("goita bot --seed 3 plain:base=(bots:Bot)", ("bots.py", "inner/deep.py")),
        ("python -m bots", ("bots.py", "helper.py", "inner/deep.py")),
        ("python ./bots.py", ("bots.py", "helper.py", "inner/deep.py")),
    ],
)
def test_the_files_among_the_words_of_a_command_count(place, monkeypatch, command, counts):
    (place / "program").write_text("#!/bin/sh\n")
    (place / "program").chmod(0o755)
    for name in ("env", "python"):
        (place / name).write_text("")  # of this name there is a program on the PATH, which runs
    before = digest(f"exec:{command}")
    for name in (*counts, "unused.py", "env", "python"):
        with (place / name).open("a") as file:
            file.write("# another\n")
        after = digest(f"exec:{command}")
        assert (after != before) == (name in counts), name
        before = after
    assert "bots" not in sys.modules  # the class is to run in a process of its own
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    assert digest(f"exec:{place / 'program'}") is None
    assert digest("exec:goita bot champion") == digest("champion")


def test_what_exists_and_cannot_be_covered_is_said_once(place, capsys, monkeypatch):
    os.mkfifo(place / "fifo")
    (place / "folder/link").symlink_to("..")
    monkeypatch.setattr(identity, "FOLDER_BYTES", 3_000)
    (place / "large.bin").write_bytes(bytes(4_000))
    large = "bots:Bot:path=folder"  # with the link everything, the large file among it
    for spec in (f"a={large}", f"a={large}", "b=bots:Bot:path=fifo", "c=bots:Bot:path=/dev/null"):
        assert digest(spec) is not None
    digest("d=bots:Bot:listed=gone.bin")
    digest("e=bots:Bot:path=gone.bin")
    digest("f=exec:python folder")
    assert capsys.readouterr().err.splitlines() == [
        "the digest of a does not cover 'folder/link/fifo': it is a fifo",
        "the digest of a does not cover 'folder': its files have more than 3,000 bytes",
        "the digest of b does not cover 'fifo': it is a fifo",
        "the digest of c does not cover '/dev/null': it is a device",
        "the digest of d does not cover 'gone.bin': there is no such file",
        "the digest of f does not cover 'folder': it is a folder",
    ]


def test_an_agent_that_is_made_of_something_else_by_now_has_changed(place):
    agent = load_agent(TEXT)
    identities = Identities(["greedy", "champion"])
    identities.add(TEXT, agent)
    assert set(identities.digests) == {"champion", TEXT}
    assert identities.changed() == []
    (place / "listed.bin").write_text("2")  # of the same size, a moment later
    assert identities.changed() == [TEXT]
    assert identities.changed(["greedy", "champion"]) == []
    (place / "listed.bin").unlink()
    assert identities.changed() == [TEXT]
    (place / "listed.bin").write_text("1")
    assert identities.changed() == []
    assert registry.is_own(TEXT)


def test_a_module_that_a_library_makes_itself_is_no_file(place):
    """As torch does: ``torch.ops`` is in sys.modules with the relative path "_ops.py"."""
    made = "import sys, types\nmade = types.ModuleType('computed.ops')\n"
    made += "made.__file__ = '_ops.py'\nsys.modules['computed.ops'] = made\n"
    before = digest(TEXT)
    (place / "computed.py").write_text(made)
    (place / "bots.py").write_text(FILES["bots.py"].replace("import helper", "import computed.ops"))
    for name in MODULES:
        sys.modules.pop(name, None)
    assert digest(TEXT) not in (before, None)


def test_a_class_that_imports_torch_at_the_top_of_its_file_can_enter(place):
    pytest.importorskip("torch")
    (place / "hosted.py").write_text(f"import torch\n{BOT}")
    # In a fresh process, in which the class is what imports torch.
    code = "from goita_agents.identity import Identities; Identities(['hosted:Bot'])"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
