"""Uses an installed wheel as its user does: ``python away.py EXTRA``, in a folder that it may fill.

Nothing of the checkout is imported. Each step is what a page says of the extra; a step that fails
ends it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

BOT = '''
class Lowest:
    """Plays the lowest legal action."""

    name = "lowest"

    def act(self, view, legal, rng):
        return legal.argmax(1)
'''

RECORD = "11244556,12234569,11123378,11113457,s3,371,411,115,2p,3p,4p,145,252,3p,4p,124,2p\n"

PLAY = [sys.executable, "-m", "goita_lab", "play", "--web", "--seed", "1", "--port", "0"]


def goita(*words: str, code: int = 0) -> str:
    """Runs the command, which ends with an exit code; returns what it printed."""
    command = Path(sys.executable).with_name("goita")
    done = subprocess.run([command, *words], capture_output=True, text=True, check=False)
    shown = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == code, f"goita {words}: {done.returncode}\n{shown}"
    return shown


def loop() -> None:
    """Plays the champion in a loop over the PettingZoo environment."""
    import numpy as np

    import agents
    from goita_agents import choose_action, load_agent
    from goita_env import goita_v0

    assert agents.SOMEBODY_ELSES
    champion, rng = load_agent("champion"), np.random.default_rng(0)
    env = goita_v0.env()
    env.reset(seed=0)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else choose_action(champion, observation, rng))


def tournament() -> None:
    """Plays a class of one's own against two bots."""
    Path("mine.py").write_text(BOT)
    goita("evaluate", "--agents", "mine:Lowest", "greedy", "--deals", "20", "--json", "t.json")
    (pair,) = json.loads(Path("t.json").read_text())["pairs"]
    assert (pair["a"], pair["deals"]) == ("mine:Lowest", 20)


def check() -> None:
    """Checks a class of one's own."""
    Path("mine.py").write_text(BOT)
    assert "plays: ok" in goita("check", "mine:Lowest")


def examples() -> None:
    """Writes the examples, and plays with one."""
    goita("examples", "-o", "examples")
    assert "plays: ok" in goita("check", f"exec:{sys.executable} examples/bot_python.py")


def other_extras() -> None:
    """Commands of other extras name them before they begin."""
    for command, extra in {"evaluate": "lab", "signals": "signals", "train": "train"}.items():
        assert f"needs the extra [{extra}]: pip install" in goita(command, code=2)


def coordination() -> None:
    """Fills a quick row of the coordination benchmark."""
    more = ("--partners", "greedy", "--opponents", "random", "--json", "c.json")
    goita("coordination", "greedy", "--quick", "--seed", "1", *more)
    assert "greedy" in Path("c.json").read_text()


def measure() -> None:
    """Logs decisions, and measures what the first pass is worth."""
    goita("signals", "log", "greedy", "--rounds", "50", "-o", "log")
    goita("signals", "worth", "greedy", "--where", "first_pass", "--deals", "20")


def page() -> None:
    """Makes a page of a record, with an analysis."""
    Path("game.txt").write_text(RECORD)
    goita("watch", "game.txt", "--analyse", "greedy", "--worlds", "16", "-o", "page.html")
    assert "<svg" in Path("page.html").read_text()


def training() -> None:
    """Trains a small network for a moment, and plots its curve."""
    goita("train", "--rules", "mini_3", "--total-timesteps", "20000", "--name", "mine")
    goita("plot", "runs/mine", "-o", "curve.svg")


def play() -> None:
    """Serves a match, asks for its page, and ends it."""
    server = subprocess.Popen(PLAY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        told = ""
        while not (link := re.search(r"http://\S+", told)):
            line = server.stdout.readline()
            assert line, told
            told += line
        time.sleep(1)
        with urllib.request.urlopen(link[0]) as answer:
            assert "Goita" in answer.read().decode()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=20)


STEPS = {
    "play": (loop, check, page, play, other_extras, examples),
    "lab": (tournament, coordination),
    "signals": (measure,),
    "train": (training,),
}

if __name__ == "__main__":
    assert not os.listdir(), "expected an empty folder"
    for step in STEPS[sys.argv[1]]:
        start = time.perf_counter()
        step()
        print(f"{step.__name__}: {time.perf_counter() - start:.0f} s", flush=True)
