"""Trains a policy by self-play, stores it in runs/NAME, and measures it against the bots.

goita train                                    takes about four minutes on two cores
goita train --preset standard                  takes about an hour
goita train --preset champion                  trains with partners and opponents, for hours
goita train --resume runs/NAME                 resumes a run that was interrupted
goita train --resume runs/NAME --total-timesteps N   resumes it until N decisions were made
goita train --config runs/NAME/config.json     repeats a run; a file can hold further settings
goita train --seeds 1-8 --name NAME            trains NAME-1 to NAME-8, each in its own process
goita plot runs/NAME                           draws the learning curve

To see all curves, run tensorboard --logdir runs.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from goita_env.errors import GoitaError, SettingError
from goita_lab import cli
from goita_lab.learning.many import SeedOptions, SeedRuns, read_seeds, share_cores
from goita_lab.learning.measuring import Evaluator
from goita_lab.learning.pool import players_of
from goita_lab.learning.settings import (
    COMMANDED,
    EVAL_SEED,
    Options,
    Origins,
    Training,
    read_settings,
)

if TYPE_CHECKING:
    from goita_lab.learning.ppo import SelfPlayPPO
    from goita_lab.learning.run import Run

MEASURED_OPPONENTS: Final = ("random", "greedy", "heuristic", "champion")
"""Opponents of the trained policy in the final measurement."""


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    with ExitStack() as stack:
        try:
            return train(words, stack)
        except GoitaError as error:
            cli.fail(error)
        except BrokenPipeError:  # the output was closed
            raise
        except OSError as error:
            sys.stderr.write(f"goita train: error: {error}\n")
            return 1


def train(words: Sequence[str], stack: ExitStack) -> int:
    """Trains and measures as the command line says; the stack closes the run. Returns the code."""
    several, common_words = SeedOptions.read(words)
    if several.seeds is not None:
        return train_seeds(several, several.seeds, common_words)
    if several.workers is not None:
        raise SettingError("expected --workers only with --seeds")
    origins = Origins.read(words)
    directory = origins.resume
    if directory is None:
        settings = given(words, origins.defaults())
    from goita_lab.learning.policy import DivergedError, use_threads
    from goita_lab.learning.policy_file import save_policy
    from goita_lab.learning.run import Run, start

    if directory is None:
        settings = settings.settled()
        place = Path("runs", settings.name or "")
        cli.check_outputs(folder=place if place.parent.exists() else place.parent)
        players = players_of(settings.partners or (), settings.opponents or ())
        run = Run(place, settings.to_config(), players)
        stack.callback(run.close)
    else:
        run = Run.resume(directory)
        stack.callback(run.close)
        settings = resumed(words, run)
        run.note_changes(players_of(settings.partners or (), settings.opponents or ()))
    measuring = settings.measuring()
    use_threads(settings.threads or 1)
    model = start(settings, run, new=directory is None)
    if directory is not None:
        settings = extended(settings, run, model.num_timesteps)
    print(
        f"{run}: {settings.total_timesteps:,} decisions, {settings.device}, {settings.precision}, "
        f"{settings.threads} thread{'' if settings.threads == 1 else 's'}"
    )
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        finished = run.learn(model, settings, measuring)
    except DivergedError as error:
        sys.stderr.write(
            f"the training diverged in update {model.update:,}, at {model.num_timesteps:,} "
            f"decisions ({error}); {run} keeps its checkpoint and the snapshots up to "
            f"{run.history.snapshots[-1]:,} decisions; a lower --learning-rate may help\n"
        )
        return 1
    except OSError as error:  # such as a full disk
        again = f"goita train --resume {shlex.quote(str(run))} continues"
        sys.stderr.write(
            f"goita train: error: {error}; {run} keeps what was saved before, {again}\n"
        )
        return 1
    if not finished:
        print(f"stopped and saved; goita train --resume {shlex.quote(str(run))} continues")
        return 130
    save_policy(model, run.files.policy, settings.rules)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{model.num_timesteps:,} decisions, {wall:.0f} s ({cpu:.0f} s of CPU, "
        f"{run.measuring_seconds:.0f} s of them to measure snapshots): {run.files.policy}"
    )
    measure(settings, measuring, run, model)
    return 0


def train_seeds(options: SeedOptions, seeds: str, words: Sequence[str]) -> int:
    """Trains a run for each seed; ``words`` are the options that all runs have in common."""
    if options.name is None:
        raise SettingError("expected --name with --seeds: the same command then finds its runs")
    if wrong := {"--seed", "--resume"} & {word.partition("=")[0] for word in words}:
        raise SettingError(f"expected no {min(wrong)} with --seeds")
    workers, threads = share_cores(options.workers, options.threads)
    words = [*words, "--threads", str(threads)]
    settings = given([*words, "--name", options.name], Origins.read(words).defaults())
    run_seeds = read_seeds(seeds)
    for seed in run_seeds:
        check_same_settings(settings, Path("runs", f"{options.name}-{seed}"))
    return SeedRuns(words, options.name, run_seeds, workers).train()


def check_same_settings(settings: Training, directory: Path) -> None:
    """Raises a SettingError if a run of this directory was begun with other settings."""
    config = directory / "config.json"
    if not config.is_file():
        return
    saved = Training.from_config(read_settings(config))
    own = ("name", "seed", "device", "precision", "progress")  # of a run, or settled by it
    changed = [
        name
        for name in vars(saved)
        if name not in (*own, *COMMANDED) and getattr(settings, name) != getattr(saved, name)
    ]
    if changed:
        raise SettingError(
            f"expected the settings with which {directory} was begun, got other "
            f"{', '.join(changed)}; another --name begins new runs"
        )


def given(words: Sequence[str], settings: Training) -> Training:
    """Returns settings, of which the options of a command line replace some."""
    return replace(settings, **vars(cli.parse(Options, words, __doc__, default=settings)))


def resumed(words: Sequence[str], run: Run) -> Training:
    """Returns the settings of a run, of which the command line may replace a few."""
    saved = Training.from_config(run.config)
    settings = given(words, saved)
    free = ("total_timesteps", "progress", "resume")
    changed = [name for name in vars(saved) if getattr(settings, name) != getattr(saved, name)]
    if options := [f"--{name.replace('_', '-')}" for name in changed if name not in free]:
        raise SettingError(
            f"expected the settings with which {run} was begun, except for --total-timesteps and "
            f"--no-progress, got other {', '.join(options)}"
        )
    return settings


def extended(settings: Training, run: Run, timesteps: int) -> Training:
    """Stores a new total of a resumed run, after ``timesteps`` decisions; returns the settings."""
    before, decisions = run.config["total_timesteps"], settings.total_timesteps
    if decisions == before:
        return settings
    if decisions <= timesteps:
        raise SettingError(
            f"expected more decisions than the {timesteps:,} made, got {decisions:,}"
        )
    run.configure(run.config | {"total_timesteps": decisions})
    print(
        f"continues from {timesteps:,} to {decisions:,} decisions instead of {before:,}: learning "
        f"rate and entropy, now {timesteps / decisions:.0%} of the way, reach their ends there"
    )
    return settings


def measure(settings: Training, measuring: Evaluator, run: Run, model: SelfPlayPPO) -> None:
    """Prints and saves the policy's results against the bots, on deals that selected nothing."""
    if (best := run.history.best()) is not None:
        print(f"best of the snapshots: the one at {best:,} decisions, {run.files.best}")
    from goita_lab.learning.policy_file import load_policy

    agent = load_policy(run.files.policy, type(model.policy))
    agent.name = f"file:{run.files.policy}"
    measuring = replace(measuring, against=(), deals=settings.deals, seed=EVAL_SEED)
    results = [measuring.contest(agent, measuring.load(bot)) for bot in MEASURED_OPPONENTS]
    run.save_result([result.to_json() for result in results])
    from goita_lab.arena import report

    print(report.pairs(results))
    folder, policy = shlex.quote(str(run)), shlex.quote(f"file:{run.files.policy}")
    print(f"its curve: goita plot {folder}\nplay with it: goita play --web --partner {policy}")
