"""Trains a policy by self-play, keeps it in runs/NAME, and measures it against the bots.

goita train                                    takes about four minutes on two cores
goita train --preset standard                  takes about an hour
goita train --preset champion                  the same with partners and opponents, in hours
goita train --resume runs/NAME                 goes on with a run that was stopped or killed
goita train --resume runs/NAME --decisions N   goes on until N decisions were made
goita plot runs/NAME           draws how strong it became
tensorboard --logdir runs                          shows all curves
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from goita_agents.registry import load_transform

from goita_env.checks import check_reward_scale, check_seed
from goita_env.errors import GoitaError, SettingError
from goita_env.information import PLAIN, Information
from goita_env.rules import JGA, Rules
from goita_lab import cli, learning
from goita_lab.arena import report
from goita_lab.arena.tournament.plan import check_deals
from goita_lab.learning.resume import NAMING_OPTIONS, check_named, resume_command

BOTS: Final = ("random", "greedy", "heuristic", "champion")
"""Opponents of the trained policy in the final measurement."""

NO_CRITIC: Final = (0,)  # How --critic 0 is read.
AGAINST: Final = ("greedy", "heuristic")  # Opponents of its snapshots.


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    name: str | None = None
    """name of the run, whose directory is runs/NAME; without one, date and time"""
    resume: Path | None = None
    """directory of a run to go on with; it takes only --decisions and --no-progress and, with the
    values that the run began with, the options that may name files, commands, classes or functions:
    --policy, --transform, --pool, --opponents, --partner, --partners, --against and --init"""
    preset: Literal["quick", "standard", "champion"] = "quick"
    """list of settings for about four minutes or an hour, or those of a champion; the options below
    that have no default change one of them (docs/training.md shows them all)"""
    seed: int = 0
    """seed of deals, weights and play; it repeats a run on the same machine and threads"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, or a JSON file of your own"""
    episode: Literal["round", "match"] = "round"
    """what is rewarded: the points of each round, or wins of matches, with the scores observed"""

    information: Information = PLAIN
    """JSON file with options of who knows and tells what (docs/environments/information.md)"""
    mute_share: float = 0.0
    """share of the games in which one team sends no message, so that silence is familiar"""

    decisions: int | None = None
    """decisions with a choice to learn from, since the beginning"""
    games: int | None = None
    """parallel games"""
    steps: int | None = None
    """steps of all games between two updates"""
    epochs: int | None = None
    """times that an update goes through its decisions"""
    batch: int | None = None
    """decisions in a minibatch"""
    layers: tuple[int, ...] | None = None
    """widths of the layers that policy and value share"""
    lr: tuple[float, ...] | None = None
    """learning rate at the beginning and at the end"""
    entropy: tuple[float, ...] | None = None
    """weight of the entropy at the beginning and at the end"""
    gae_lambda: float | None = None
    """weight of later decisions in advantages, 0 to 1"""
    clip: float | None = None
    """how far an update may move the ratio of new to old probability from 1"""
    sample_fraction: float | None = None
    """share of the decisions of average size that an update learns from: those with large gradients
    are drawn more often and weigh less, so that the mean is that of all; 1: all"""
    reward_scale: float = 0.02
    """factor of the points that are learnt from as rewards; a match that is won counts 1"""

    init: Path | None = None
    """file of a policy to begin with; its layers hold, or grow to wider --layers"""
    kl: float = 0.0
    """weight of the divergence from the policy of --init, KL in nats a decision, to which the
    training is held close"""
    critic: tuple[int, ...] | None = None
    """widths of the layers of a critic that sees all hands, beside the policy, which never does:
    its values take luck out of the advantages; without (0 where the preset has one), the policy's
    own values serve"""
    policy: str | None = None
    """MODULE:CLASS of a network of your own, a subclass of SelfPlayPolicy"""
    transform: tuple[str, ...] | None = None
    """what the network is shown: slices of the observation to hide, by name, and after them
    MODULE:FUNCTION of a function of your own; the policy's file names them"""
    pool_share: float | None = None
    """share of the games in which one team is played by a frozen opponent: a snapshot of this run
    or an agent of --pool, recent and hard ones more often"""
    pool: tuple[str, ...] | None = None
    """agents that join the run's snapshots as opponents; needs --pool-share"""
    opponents: tuple[str, ...] | None = None
    """agents that are the opponents in all games, instead of snapshots"""
    partner: str | None = None
    """agent that is the partner in all games; without one, the policy itself"""
    partners: tuple[str, ...] | None = None
    """agents that are partners, one drawn for each of eight groups of games, another for one group
    after each rollout; self is the policy, 3*greedy weighs three times as much, and a set such as
    population:train weighs as much as one agent. --opponents takes the same"""
    hard_partners: bool = False
    """draw partners more often the fewer points are made beside them, as opponents are drawn"""
    predict_players: float = 0.0
    """weight of an auxiliary loss: predict from the network's features who the partner and the
    opponents are, of --partners and --opponents; members of the population that were trained alike
    count as one"""
    other_play: bool = False
    """show each seat the game with tiles of equal rules exchanged, or not (Other-Play)"""
    off_belief: bool = False
    """let decisions earn what they would in worlds of the hard facts, whatever the others meant
    (off-belief learning)"""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """where the network runs (auto: on a GPU where there is one)"""
    threads: int = 2
    """threads of torch"""
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    """network dtype (auto: bfloat16 where the processor does it fast)"""
    save_every: int | None = None
    """decisions between two checkpoints"""
    progress: bool = True
    """show a progress bar"""

    snapshot_every: int | None = None
    """decisions between two snapshots of the policy, which are kept and measured"""
    against: tuple[str, ...] | None = None
    """opponents of every snapshot, beside the run's own snapshot at 75 % of its decisions; without
    any, greedy and heuristic, or those of --opponents"""
    measure_deals: int | None = None
    """deals of each of these matches, played twice each; 0: none"""
    deals: int = 4000
    """deals of the measurement at the end, each played twice, the teams' seats exchanged"""
    eval_seed: int = 1
    """seed of these deals; the snapshots' deals have the next one"""

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise SettingError(f"expected threads of at least 1, got {self.threads!r}")
        if self.name is not None and (not self.name or Path(self.name).name != self.name):
            raise SettingError(f"expected the name of a directory in runs/, got {self.name!r}")
        check_reward_scale(self.reward_scale)
        for option, weight in (("kl", self.kl), ("predict-players", self.predict_players)):
            if not 0 <= weight < inf:
                raise SettingError(f"expected a --{option} of at least 0, got {weight!r}")
        if self.critic not in (None, NO_CRITIC):
            learning.check_widths("critic layers", self.critic)
        check_deals(self.deals)
        check_seed(self.seed)
        check_seed(self.eval_seed + 1)


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    given = cli.parse(Args, words, __doc__)
    with ExitStack() as stack:
        try:
            return train(given, words, stack)
        except GoitaError as error:
            cli.fail(error)
        except OSError as error:
            sys.stderr.write(f"goita train: error: {error}\n")
            return 1


def train(given: Args, words: Sequence[str], stack: ExitStack) -> int:
    """Trains and measures as the command line says; the stack closes the run. Returns the code."""
    if given.resume is None:
        args, settings = settle(given)
        run = learning.Run(
            Path("runs", args.name or ""),
            config_of(args, settings),
            learning.players_of(args.partners or (), args.opponents or ()),
        )
        stack.callback(run.close)
    else:
        check_resumed_with(words)
        run = learning.Run.resume(given.resume)
        stack.callback(run.close)
        args, settings = settings_of(run)
        check_named(vars(args), vars(given), run.files.config)
    measuring = learning.Measuring(
        tuple(args.against or learning.named_agents(args.opponents or ()) or AGAINST),
        settings.measure_deals,
        args.eval_seed + 1,
        args.rules,
        args.episode,
        args.information,
    )
    learning.use_threads(args.threads)
    model = start(args, settings, run, given.resume is not None)
    if given.resume is not None and given.decisions is not None:
        settings = extend(settings, run, model.num_timesteps, given.decisions)
    disk = run.files.most_bytes(model, settings.decisions)
    directory = run.files.directory
    print(
        f"{directory}: {settings.decisions:,} decisions, {args.device}, {args.precision}; "
        f"at most about {disk / 1e6:,.0f} MB on disk"
    )
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        finished = run.learn(model, settings, measuring, args.progress and given.progress)
    except learning.DivergedError as error:
        sys.stderr.write(
            f"the training diverged in update {model.update:,}, at {model.num_timesteps:,} "
            f"decisions ({error}); {directory} keeps its checkpoint and the snapshots up to "
            f"{run.history.snapshots[-1]:,} decisions; a lower --lr may help\n"
        )
        return 1
    except OSError as error:  # such as a full disk
        sys.stderr.write(
            f"goita train: error: {error}; {directory} keeps what was saved before, "
            f"{resume_command(vars(args), directory)} goes on\n"
        )
        return 1
    if not finished:
        print(f"stopped and saved; {resume_command(vars(args), directory)} goes on")
        return 130
    learning.save_policy(model, run.files.policy, args.rules)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{model.num_timesteps:,} decisions, {wall:.0f} s ({cpu:.0f} s of CPU, "
        f"{run.measuring_seconds:.0f} s of them to measure snapshots): {run.files.policy}"
    )
    measure(args, measuring, run, model)
    return 0


def measure(
    args: Args,
    measuring: learning.Measuring,
    run: learning.Run,
    model: learning.SelfPlayPPO,
) -> None:
    """Prints and saves the policy's results against the bots, on deals that selected nothing."""
    if (best := run.history.best()) is not None:
        print(f"best of the snapshots: the one at {best:,} decisions, {run.files.best}")
    policy, function = type(model.policy), model.transform.function
    agent = learning.load_policy(run.files.policy, policy, function)
    agent.name = f"file:{run.files.policy}"
    measuring = replace(measuring, against=(), deals=args.deals, seed=args.eval_seed)
    results = [measuring.contest(agent, measuring.load(bot)) for bot in BOTS]
    run.save_result([result.to_json() for result in results])
    print(report.pairs(results))


def settle(args: Args) -> tuple[Args, learning.TrainingSettings]:
    """Returns the options and settings of a new run with every choice made."""
    args = with_players(args)
    if args.kl and args.init is None:
        raise SettingError("expected --kl with --init, the policy to hold close to")
    if args.policy is not None:
        learning.find_policy(args.policy)
    load_transform(args.transform or (), "--transform")
    device = learning.find_device(args.device)
    fast = learning.has_fast_bfloat16(device)
    precision = args.precision if args.precision != "auto" else "bfloat16" if fast else "float32"
    settings = learning.PRESETS[args.preset].changed(vars(args))
    check_players(args, settings)
    if args.pool and not settings.pool_share:
        raise SettingError("expected --pool-share above 0 with --pool, got 0: nobody would meet it")
    if args.off_belief and settings.pool_share:
        raise SettingError("expected --off-belief with --pool-share 0: the policy plays all seats")
    if args.init is not None:
        layers = learning.widths(args.init)
        if args.layers is None:
            settings = replace(settings, layers=layers)
        elif len(args.layers) != len(layers) or any(map(int.__lt__, args.layers, layers)):
            raise SettingError(
                f"expected --layers {layers} of {args.init} or wider, got {args.layers}"
            )
    name = args.name or f"{datetime.now():%Y-%m-%d-%H-%M-%S}"
    return replace(args, name=name, device=device, precision=precision), settings


def with_players(args: Args) -> Args:
    """Returns the options with the critic and players of the preset, where none are given."""
    preset = learning.PLAYERS.get(args.preset, {})
    named: dict[str, Any] = {k: v for k, v in preset.items() if getattr(args, k) is None}
    args = replace(args, **named)
    return replace(args, critic=None) if args.critic == NO_CRITIC else args


def config_of(args: Args, settings: learning.TrainingSettings) -> dict[str, Any]:
    """Returns all options and settings as JSON can hold them."""
    given = {name: value for name, value in asdict(args).items() if name != "information"}
    options = args.rules.to_keys() | args.information.to_keys()
    return given | asdict(settings) | options


def settings_of(run: learning.Run) -> tuple[Args, learning.TrainingSettings]:
    rules = Rules.from_keys(run.config)
    information = Information.from_keys(run.config)
    apart = ("rules", "rules_fields", "information", "provenance")
    config = {key: value for key, value in run.config.items() if key not in apart}
    if unknown := config.keys() - {field.name for field in fields(Args)}:
        raise SettingError(f"expected the settings of this program, got {sorted(unknown)}")
    try:
        args = msgspec.convert(config, Args, dec_hook=lambda kind, value: kind(value))
        args = replace(args, rules=rules, information=information)
        learning.find_device(args.device)
        settings = learning.PRESETS[args.preset].changed(vars(args))
        check_players(args, settings)
        return args, settings
    except (TypeError, ValueError) as error:
        raise SettingError(f"expected the settings of this program: {error}") from error


def check_resumed_with(argv: Sequence[str]) -> None:
    """Checks the options given beside --resume, since a run keeps its other settings."""
    taken = ["--decisions", "--no-progress", *(f"--{name}" for name in NAMING_OPTIONS)]
    given = [word.partition("=")[0] for word in argv if word.startswith("--")]
    if refused := [option for option in given if option not in ["--resume", *taken]]:
        raise SettingError(f"expected only {', '.join(taken)} beside --resume, got {refused}")


def extend(
    settings: learning.TrainingSettings, run: learning.Run, made: int, decisions: int
) -> learning.TrainingSettings:
    """Changes the number of decisions of a resumed run; returns its settings."""
    if decisions <= made:
        raise SettingError(f"expected more decisions than the {made:,} made, got {decisions:,}")
    before, settings = settings.decisions, replace(settings, decisions=decisions)
    if decisions != before:
        run.configure(run.config | {"decisions": decisions})
        print(
            f"goes on from {made:,} to {decisions:,} decisions instead of {before:,}: learning "
            f"rate and entropy, now {made / decisions:.0%} of the way, reach their ends there"
        )
    return settings


def start(
    args: Args, settings: learning.TrainingSettings, run: learning.Run, resumed: bool
) -> learning.SelfPlayPPO:
    """Returns the model of a run, new or from its last checkpoint; begins a run that is new."""
    pool = None
    partners = partners_of(args)
    if args.opponents or settings.pool_share or partners:
        pool = learning.Pool(
            settings.games,
            share=1.0 if args.opponents else settings.pool_share,
            agents=args.opponents or args.pool or (),
            snapshots=not args.opponents,
            first=args.init is not None,
            partners=partners,
            hard_partners=args.hard_partners,
            seed=args.seed,
            information=args.information,
        )
    model = new_model(args, settings)
    if pool is not None:
        run.add_pool(model, pool)
    if args.init is not None:
        learning.begin_from(model, run.files.init if resumed else args.init)
    if args.kl:
        model.hold_close(args.kl)
    if resumed:
        run.restore(model)
    if not resumed:
        learning.policy_bytes(model, args.rules)  # raises if no file could hold the policy
        run.begin(args.init)
    return model


def check_players(args: Args, settings: learning.TrainingSettings) -> None:
    """Raises a SettingError if the options about other players do not fit together."""
    others = args.opponents or partners_of(args)
    if args.opponents and (args.pool or args.pool_share):
        raise SettingError("expected --opponents or a pool, got both")
    if args.partner is not None and args.partners:
        raise SettingError("expected --partner or --partners, got both")
    if args.hard_partners and not args.partners:
        raise SettingError("expected --hard-partners with --partners to draw from")
    if args.predict_players and settings.pool_share:
        raise SettingError("expected --predict-players with --pool-share 0: no kind is a snapshot")
    if args.predict_players and not learning.has_kinds(args.opponents or (), args.partners or ()):
        raise SettingError(
            "expected --predict-players with --partners or --opponents of several kinds to predict"
        )
    if args.off_belief and (args.pool or others):
        raise SettingError("expected --off-belief without other players, whose play it cannot know")


def partners_of(args: Args) -> tuple[str, ...]:
    return args.partners or (() if args.partner is None else (args.partner,))


def new_model(args: Args, settings: learning.TrainingSettings) -> learning.SelfPlayPPO:
    kinds = (
        learning.kinds_of(args.opponents or (), partners_of(args)) if args.predict_players else ()
    )
    return learning.build_model(
        settings,
        rules=args.rules,
        seed=args.seed,
        bfloat16=args.precision == "bfloat16",
        reward_scale=args.reward_scale,
        device=args.device,
        episode=args.episode,
        critic=args.critic or (),
        policy=learning.find_policy(args.policy) if args.policy else learning.SelfPlayPolicy,
        transform=load_transform(args.transform or (), "--transform"),
        information=args.information,
        mute_share=args.mute_share,
        other_play=args.other_play,
        off_belief=args.off_belief,
        player_kinds=len(kinds),
        player_weight=args.predict_players,
    )
