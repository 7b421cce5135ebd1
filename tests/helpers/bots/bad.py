"""A bot that answers with the first legal action, and misbehaves as its first argument says.

Further arguments mark its processes in the process table; some behaviours read them as paths.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

behaviour, *rest = sys.argv[1:]


def say(message: object) -> None:
    """Writes a message."""
    print(json.dumps(message), flush=True)


def hang() -> None:
    """Does nothing, whatever it is told."""
    while True:
        time.sleep(60)


def answer(message: dict, acts: int, hands: dict) -> None:  # noqa: PLR0912 - one a behaviour
    """Answers a question, more or less."""
    game, action = message["game"], message["legal"][0]
    if behaviour == "hangs":
        hang()
    elif behaviour == "slow once" and acts == 3:
        time.sleep(0.6)
    elif behaviour == "silent once" and acts == 3:
        return
    elif behaviour == "floods a line":
        print("x" * 10_000_000, flush=True)
    elif behaviour == "floods lines":
        while True:
            print('{"type":"act"}' * 10)
    elif behaviour == "floods blanks":
        print(" " * 3000 + "\n" * 200_000, flush=True)
    elif behaviour == "floods stderr":
        print("noise\n" * 100_000, file=sys.stderr, flush=True)
    elif behaviour == "lies":
        action = "88"
    elif behaviour == "talks nonsense":
        print("I think I'll pass", flush=True)
        return
    elif behaviour == "thinks aloud":
        print("let me see", flush=True)
    elif behaviour == "answers an unknown type":
        say({"type": "resign", "game": game})
        return
    elif behaviour == "answers another game":
        game += 1_000_000
    elif behaviour == "answers with a number":
        say({"type": "act", "game": game, "action": 0})
        return
    elif behaviour == "dies in mid-game" and acts == 5:
        print("first line\nlast words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif behaviour == "dies once" and acts == 5:
        note = Path(rest[-1])
        if not note.exists():
            note.touch()
            sys.exit("once is enough")
    elif behaviour == "answers twice":
        say({"type": "act", "game": game, "action": action})
    elif behaviour == "closes its output":
        os.close(1)
        hang()
    if game in hands or behaviour == "answers another game":
        say({"type": "act", "game": game, "action": action, "unknown": "field"})
    else:
        say({"type": "what", "text": "never heard of that game"})


def main() -> None:
    """Talks."""
    if behaviour == "dies at once":
        sys.exit("no luck today")
    if behaviour == "ignores everything":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    if behaviour == "has a child":
        sleep = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
        subprocess.Popen([sys.executable, "-I", "-S", "-c", sleep, *rest])
    acts, hands = 0, {}
    for line in sys.stdin:
        message = json.loads(line)
        if behaviour == "keeps a diary":
            with open(f"{rest[0]}.{os.getpid()}", "a", encoding="utf-8") as diary:
                diary.write(line)
        if message["type"] == "hello":
            if behaviour == "says no hello":
                hang()
            version = 2 if behaviour == "speaks another version" else 1
            say({"type": "hello", "protocol": version, "name": behaviour})
        elif message["type"] == "deal":
            hands[message["game"]] = message["hand"]
        elif message["type"] == "act":
            acts += 1
            answer(message, acts, hands)
    if behaviour == "ignores everything":
        hang()


main()
