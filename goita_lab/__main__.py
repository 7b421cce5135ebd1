"""Runs the command ``goita``, also ``python -m goita_lab``.

Nothing else is imported until a subcommand is known, so that the help comes at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final, NoReturn

GROUPS: Final = {
    "play and look": {
        "play": ("commands.play", "play against bots, in the terminal or in a browser"),
        "watch": ("commands.watch", "make a page that replays or analyses recorded games"),
        "solve": ("commands.solve", "print the points of each action when all hands are known"),
        "examples": ("commands.examples", "write the example programs into a folder"),
    },
    "compare agents": {
        "evaluate": ("commands.evaluate", "play a tournament over duplicate deals"),
        "check": ("commands.check", "check a bot of your own before it plays"),
        "coordination": (
            "commands.coordination",
            "measure how an agent plays with partners that it does not know",
        ),
        "exam": (
            "commands.exam",
            "show where a bot loses points, and what it knows of other hands",
        ),
        "exploit": ("commands.exploit", "compute a lower bound of an agent's exploitability"),
        "bot": ("commands.bot", "run a bot as a program that uses the bot protocol"),
    },
    "train and learn": {
        "train": ("commands.train", "train a policy by self-play"),
        "plot": ("commands.plot", "draw the learning curves of trainings"),
        "imitate": ("commands.imitate", "train a model of players on their games"),
        "beat": ("commands.beat", "train a model of a program, and search with this model"),
        "population": ("commands.population", "list the population of trained players"),
    },
    "research": {
        "exact": ("commands.exact", "solve a small game, and measure agents exactly"),
        "signals": ("commands.signals", "measure what passes and plays reveal to a partner"),
    },
}
"""The subcommands by purpose: the module of each, and what it does."""

COMMANDS: Final = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}

EXTRAS_OF_COMMANDS: Final = {
    "train": "train",
    "signals": "signals",
    **dict.fromkeys(("evaluate", "coordination", "exam", "exploit", "exact"), "lab"),
    **dict.fromkeys(("plot", "imitate", "beat"), "lab"),
}
"""The extra that a command needs, if it needs more than [play]."""

EXIT_CODES: Final = """
exit codes: 0 done; 1 done with a fault, which the output names; 2 wrong arguments; 130 interrupted
"""


def help_text() -> str:
    """Returns the page that ``goita --help`` shows."""
    lines = [
        "usage: goita COMMAND [options]",
        "",
        "Plays Goita, and trains and measures agents.",
        "",
    ]
    for title, group in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {name:13} {says}" for name, (_, says) in group.items()]
        lines.append("")
    lines += [
        "`goita COMMAND --help` shows examples and the options. To begin with:",
        "",
        "  goita play --web                                        play against bots in a browser",
        "  goita evaluate --agents champion heuristic --deals 200  measure which is stronger",
    ]
    return "\n".join([*lines, EXIT_CODES])


def main(words: list[str] | None = None) -> NoReturn:
    """Runs the subcommand that the words name; ends the program with its exit code.

    Args:
        words: after the program's name; None: those of this process.
    """
    words = sys.argv[1:] if words is None else words
    name = words[0] if words else ""
    if name in ("", "-h", "--help"):
        sys.stdout.write(help_text())
        raise SystemExit(0 if name else 2)
    if name == "--version":
        from goita_env import __version__

        sys.stdout.write(f"goita {__version__}\n")
        raise SystemExit(0)
    if name not in COMMANDS:
        sys.stderr.write(f"goita: expected a command of {', '.join(COMMANDS)}, got {name!r}\n")
        raise SystemExit(2)
    sys.argv = [f"goita {name}", *words[1:]]
    try:
        from goita_env.errors import check_extra, naming_extras

        check_extra(EXTRAS_OF_COMMANDS.get(name, "play"))
        with naming_extras():
            import tyro  # noqa: F401  (read by every command, and imported late)

            from goita_lab import cli

            cli.run(import_module(f"goita_lab.{COMMANDS[name]}").main)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"goita {name}: {error}\n")
        raise SystemExit(2) from None
    except KeyboardInterrupt:  # before the command itself takes care of it
        sys.stderr.write(f"\ngoita {name}: stopped\n")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
