"""Holds the settings of a training, and the presets.

``Options`` has the settings that the command line takes, ``Training`` all settings that a file may
have. Torch is imported when a model is built, not before, so that the command's help is quick.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, get_type_hints

import msgspec
from msgspec import Meta

from goita_agents.bots.network_file import MAX_BYTES, MAX_DECISIONS, MAX_LAYERS, read_network
from goita_agents.bots.transform import Transform
from goita_agents.files import decode
from goita_env import GoitaVectorEnv
from goita_env.checks import check_seed, read_limited
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules
from goita_lab.arena.tournament.plan import check_deals
from goita_lab.learning.measuring import Evaluator
from goita_lab.learning.pool import OpponentPool, named_agents
from goita_lab.learning.symmetries import read_preferences

if TYPE_CHECKING:
    from goita_lab.learning.ppo import SelfPlayPPO

NO_CRITIC: Final = (0,)  #: How --critic 0 is read.
SNAPSHOT_OPPONENTS: Final = ("greedy", "heuristic")  #: Opponents of its snapshots.
EVAL_SEED: Final = 1
"""Of the deals of the measurement at the end; the snapshots' deals have the next one."""
MAX_WEIGHTS: Final = MAX_BYTES // 4
"""Of all layers together: those that a network's file holds as float32."""
COMMANDED: Final = ("resume", "config", "seeds", "workers")
"""Options that say where settings come from, or how many runs there are; they are no settings."""

MAX_FACTOR: Final = 1e30
"""Weights, scales and points are below it, so that float32 holds them."""
MAX_THREADS: Final = 1024

Count = Annotated[int, Meta(ge=1, lt=MAX_DECISIONS)]
Weight = Annotated[float, Meta(ge=0, lt=MAX_FACTOR)]
Share = Annotated[float, Meta(ge=0, le=1)]
Scheduled = float | tuple[Weight, Weight]
"""One number, or those at the beginning and at the end. ``_check_numbers`` checks both alike: a
number with bounds next to a tuple crashes msgspec 0.22."""
PositiveShare = Annotated[float, Meta(gt=0, le=1)]
PositiveFactor = Annotated[float, Meta(gt=0, lt=MAX_FACTOR)]


def check_widths(what: str, widths: Sequence[int], inputs: int) -> None:
    """Checks that there are layers, all with a width, and that a network's file could hold them.

    Args:
        what: the layers, for errors.
        widths: their widths.
        inputs: the width of what the first layer sees.
    """
    if min(widths, default=0) < 1:
        raise SettingError(f"expected {what} of at least 1, got {shortened(widths)}")
    if len(widths) > MAX_LAYERS:
        raise SettingError(f"expected at most {MAX_LAYERS} {what}, got {len(widths):,}")
    weights = sum(before * width for before, width in pairwise((inputs, *widths)))
    if weights > MAX_WEIGHTS:
        raise SettingError(
            f"expected {what} with at most {MAX_WEIGHTS:,} weights, "
            f"got {weights:,} in {shortened(widths)}"
        )


@dataclass(frozen=True)
class Options:
    """Settings of a training that are options of its command; the defaults are those of ``quick``.

    ``preset`` only records from which preset (``PRESETS``) the other settings were taken.
    """

    name: str | None = None
    """name of the run, whose directory is runs/NAME (default: date and time)"""
    resume: Path | None = None
    """directory of a run to resume with its own settings. Only --total-timesteps and --no-progress
    may differ"""
    preset: Literal["quick", "standard", "champion"] = "quick"
    """defaults of the options below: quick trains for about four minutes, standard for about an
    hour, and champion for hours. --preset champion --help shows the defaults of this preset"""
    config: Path | None = None
    """JSON or TOML file with settings, including those that are not options
    (docs/reference/training.md). The config.json of a run repeats this run"""
    seed: int = 0
    """seed of deals, weights and play. The same seed repeats a run on the same machine with the
    same number of threads"""
    seeds: str | None = None
    """seeds of several runs, such as 1-8 or 1-3,7. Each run, NAME-SEED, is trained by its own
    process. The same command resumes unfinished runs and skips finished ones"""
    workers: int | None = None
    """number of runs of --seeds that train at the same time. This number times --threads (1 for
    each run) may not exceed the number of cores. Default: the number of cores"""
    rules: Rules = JGA
    episode: Literal["round", "match"] = "round"
    """whether the reward is the points of each round, or a win of a match, in which the policy
    observes the scores"""

    total_timesteps: Count = 20_500_000
    """number of decisions with more than one legal action on which the policy is trained, from the
    beginning of the run"""
    n_envs: Count = 2048
    """number of games in parallel"""
    n_steps: Count = 32
    """number of steps of all games between two updates"""
    n_epochs: Count = 2
    """number of times that an update uses each decision"""
    batch_size: Count = 4096
    """number of decisions in a minibatch"""
    learning_rate: Scheduled = (3e-3, 5e-5)
    """learning rate at the beginning and at the end, or one number for the whole training"""
    gae_lambda: Share = 0.9
    """weight of later decisions in advantages (lambda), 0 to 1"""
    clip_range: PositiveFactor = 0.2
    """clipping range of PPO: the largest change of the ratio of new to old probability from 1 in an
    update"""
    ent_coef: Scheduled = (0.05, 0.01)
    """weight of the entropy at the beginning and at the end, or one number for the whole
    training"""

    layers: tuple[int, ...] = (128, 128, 128)
    """widths of the layers that policy and value share. With --init they are the widths of the file
    or larger ones"""
    policy: str | None = None
    """network of your own as MODULE:CLASS, a subclass of SelfPlayPolicy"""
    critic: tuple[int, ...] | None = None
    """widths of the layers of a critic that sees all hands, although the policy does not. Its
    values remove luck from the advantages. Default: the critic of the preset, if it has one; 0 uses
    the values of the policy instead"""
    init: Path | None = None
    """file of a policy with which the training begins"""
    opponents: tuple[str, ...] | None = None
    """agents that are the opponents in all games, in the form of --partners. Without this option
    the opponents are the policy itself"""
    partners: tuple[str, ...] | None = None
    """agents that are the partners. One is drawn for each of eight groups of games, and after each
    rollout a new one is drawn for one group. self is the policy, 3*greedy has three times the
    weight, and a set such as population:train has the weight of one agent"""

    snapshot_every: Count = 2_400_000
    """number of decisions between two snapshots of the policy, which are stored and measured, and
    between two checkpoints"""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """device of the network; auto uses a GPU if there is one"""
    threads: Annotated[int, Meta(ge=1, le=MAX_THREADS)] | None = None
    """number of threads of torch, on which results depend. Default: 2, or 1 on a machine with one
    core. If other programs use the second core, 1 is faster"""
    progress: bool = True
    """show the progress"""


@dataclass(frozen=True)
class Training(Options):
    """All settings of a training.

    Raises:
        SettingError: if a setting is invalid, or some do not fit together.
    """

    information: InformationStructure = PLAIN
    """shown tiles and messages (docs/environments/information.md)"""
    mute_share: Share = 0.0
    """share of the games in which one team sends no messages, so that the policy also learns to
    play without them"""

    sample_fraction: PositiveShare = 0.2
    """how many of the decisions an update uses: all with 1, about 40 % with 0.2. Decisions with
    larger gradients are used more often and weigh less, so that the expected gradient is that of
    all decisions"""
    reward_scale: PositiveFactor = 0.02
    """factor from points to rewards; in training by matches a won match has reward 1 instead"""
    kl: Weight = 0.0
    """weight of a loss that holds the policy close to a reference: the KL divergence of the policy
    from the reference in nats per decision. The reference is the policy of init, or with refresh
    one that follows the training"""
    refresh: Annotated[int, Meta(ge=0, lt=MAX_DECISIONS)] = 0
    """number of decisions between two updates of the reference. It is updated when an update of
    the policy ends: with 1 every time, with 0 never"""
    refresh_share: PositiveShare = 1.0
    """size of an update of the reference: 1 copies the weights of the policy, and a smaller share
    makes a moving average of them"""
    transform: tuple[str, ...] | None = None
    """names of the slices of the observation that are hidden from the network; the policy's file
    names them, too"""
    pool_share: Share = 0.0
    """share of the games in which a frozen opponent plays one team: a snapshot of this run or an
    agent of pool. Recent opponents and those that win more are drawn more often"""
    pool: tuple[str, ...] | None = None
    """agents that join the run's snapshots as opponents; needs pool_share"""
    other_play: bool = False
    """exchange, for each seat at random, kinds of tiles that the rules treat alike in what the seat
    sees (Other-Play)"""
    prefer: tuple[str, ...] | None = None
    """additional points that each seat earns for its own actions, so that the policy learns another
    way to play. Each text is the name of an action, where x stands for any kind, and its points:
    p:1 for a pass, 5x:-2 for plays that block with a gold, x8:3 for attacks with a king"""
    off_belief: bool = False
    """compute each return in a deal drawn from all deals that the rules allow, so that past actions
    carry no information (off-belief learning)"""

    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    """data type of the network; auto: bfloat16 on processors that compute it fast"""
    against: tuple[str, ...] | None = None
    """opponents against which every snapshot is measured. Default: the agents in opponents, or
    greedy and heuristic. The snapshot nearest to 75 % of the decisions so far is always an
    opponent, too"""
    measure_deals: int = 512
    """deals against each of these opponents, each played twice; 0: no measurement"""
    deals: int = 4000
    """deals against each opponent in the final measurement, each played twice with the seats of
    the teams exchanged"""

    def __post_init__(self) -> None:
        if self.critic == NO_CRITIC:
            object.__setattr__(self, "critic", None)
        if self.name is not None and (not self.name or Path(self.name).name != self.name):
            raise SettingError(f"expected the name of a directory in runs/, got {self.name!r}")
        self._check_numbers()
        check_deals(self.deals)
        check_seed(self.seed)
        read_preferences(self.prefer or ())
        for reason, wrong in self._conflicts():
            if wrong:
                raise SettingError(f"expected {reason}")

    def _check_numbers(self) -> None:
        """Checks the bounds of all numbers, and the sizes that layers and decisions must have."""
        # Types that have bounds differ from themselves without annotations.
        kinds, plain = get_type_hints(Training, include_extras=True), get_type_hints(Training)
        for name, kind in kinds.items():
            if kind != plain[name]:
                setting = getattr(self, name)
                try:
                    if kind == Scheduled:
                        msgspec.convert(_ends(setting), tuple[Weight, Weight])
                    else:
                        msgspec.convert(setting, kind)
                except msgspec.ValidationError as error:
                    raise SettingError(
                        f"expected another {name}, got {setting!r}: {error}"
                    ) from error
        # With fewer decisions a training is over before it learns anything.
        if self.total_timesteps < (fewest := self.n_envs * self.n_steps):
            raise SettingError(
                f"expected total_timesteps of at least n_envs times n_steps, {fewest:,}, "
                f"got {self.total_timesteps!r}"
            )
        inputs = self.information.observation_size
        check_widths("layers", self.layers, inputs)
        if self.critic is not None:
            check_widths("critic layers", self.critic, inputs)

    def _conflicts(self) -> list[tuple[str, bool]]:
        """Returns what is expected of several settings, each with whether they are otherwise."""
        has_reference = self.init is not None or self.refresh > 0
        has_pool = bool(self.pool or self.pool_share)
        has_opponents, has_partners = bool(self.opponents), bool(self.partners)
        return [
            (
                "kl with init, the policy to hold close to, or with refresh",
                self.kl > 0 and not has_reference,
            ),
            ("refresh with kl above 0", self.refresh > 0 and not self.kl),
            ("opponents or a pool, got both", has_opponents and has_pool),
            ("pool_share above 0 with pool", bool(self.pool) and not self.pool_share),
            (
                "off_belief without prefer: worlds of its own have only points",
                self.off_belief and bool(self.prefer),
            ),
            (
                "off_belief with pool_share 0 and without other players, whose play it cannot know",
                self.off_belief and (has_pool or has_opponents or has_partners),
            ),
        ]

    def settled(self) -> Self:
        """Returns the settings of a new run: name, device, threads and precision are chosen."""
        from goita_agents.solver import cores
        from goita_lab.learning.policy import find_device, has_fast_bfloat16

        device = find_device(self.device)
        fast = has_fast_bfloat16(device)
        return replace(
            self,
            name=self.name or f"{datetime.now():%Y-%m-%d-%H-%M-%S}",
            device=device,
            # What else runs does not count, so a seed repeats a run; small networks gain little by
            # more threads.
            threads=self.threads or min(2, cores()),
            precision="bfloat16" if self._wants_bfloat16(fast) else "float32",
        )

    def _wants_bfloat16(self, fast: bool) -> bool:
        return self.precision == "bfloat16" or (self.precision == "auto" and fast)

    def to_config(self) -> dict[str, Any]:
        """Returns the settings as JSON can hold them."""
        left_out = ("information", *COMMANDED)
        settings = {name: value for name, value in asdict(self).items() if name not in left_out}
        return settings | self.rules.to_keys() | self.information.to_keys()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Returns the settings that ``config`` wrote; a SettingError if they are others."""
        settings = {key: config[key] for key in config.keys() - {"rules_fields", "provenance"}}
        names = {field.name for field in fields(cls)} - {*COMMANDED}
        for key in sorted(settings.keys() - names):
            nearest = get_close_matches(key, sorted(names), 1)
            hint = f"; the nearest is {nearest[0]!r}" if nearest else ""
            raise SettingError(f"expected settings of a training, got {key!r}{hint}")
        settings |= {
            "rules": Rules.from_keys(config),
            "information": InformationStructure.from_keys(config),
        }
        try:
            return msgspec.convert(settings, cls, dec_hook=lambda kind, value: kind(value))
        except (TypeError, ValueError) as error:
            raise SettingError(f"expected settings of a training: {error}") from error

    def measuring(self) -> Evaluator:
        """Returns how snapshots are measured, by opponents that are built to see that they can."""
        named = named_agents(self.opponents or ())
        return Evaluator(
            against=tuple(self.against or named or SNAPSHOT_OPPONENTS),
            deals=self.measure_deals,
            seed=EVAL_SEED + 1,
            rules=self.rules,
            episode=self.episode,
            information=self.information,
        )

    def frozen(self) -> OpponentPool | None:
        """Returns the frozen players that the learner plays with; None if it plays only itself."""
        if not (self.opponents or self.pool_share or self.partners):
            return None
        return OpponentPool(
            self.n_envs,
            share=1.0 if self.opponents else self.pool_share,
            agents=self.opponents or self.pool or (),
            snapshots=not self.opponents,
            first=self.init is not None,
            partners=self.partners or (),
            seed=self.seed,
            information=self.information,
        )

    def model(self) -> SelfPlayPPO:
        """Returns a learner that has learnt nothing yet, with its games."""
        from stable_baselines3.common.utils import LinearSchedule

        from goita_lab.learning.policy import SelfPlayPolicy, find_device, has_fast_bfloat16
        from goita_lab.learning.policy_file import find_policy
        from goita_lab.learning.ppo import SelfPlayPPO
        from goita_lab.learning.vec_env import SelfPlayVecEnv

        match = self.episode == "match"
        games = GoitaVectorEnv(
            self.n_envs,
            rules=self.rules,
            episode=self.episode,
            reward="win" if match else "points",
            seed=self.seed,
            observe=False,
            information=self.information,
        )
        device = find_device(self.device)
        return SelfPlayPPO(
            find_policy(self.policy) if self.policy else SelfPlayPolicy,
            SelfPlayVecEnv(games),
            learning_rate=LinearSchedule(*_ends(self.learning_rate), end_fraction=1.0),
            ent_coef=LinearSchedule(*_ends(self.ent_coef), end_fraction=1.0),
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            n_epochs=self.n_epochs,
            gamma=1.0,
            gae_lambda=self.gae_lambda,
            clip_range=self.clip_range,
            bfloat16=self._wants_bfloat16(has_fast_bfloat16(device)),
            reward_scale=1.0 if match else self.reward_scale,
            critic=self.critic or (),
            transform=Transform(self.transform or ()),
            mute_share=self.mute_share,
            other_play=self.other_play,
            off_belief=self.off_belief,
            prefer=self.prefer or (),
            policy_kwargs={"layers": self.layers},
            rollout_buffer_kwargs={"sample_fraction": self.sample_fraction},
            seed=self.seed,
            device=device,
        )


def _ends(value: Scheduled) -> tuple[float, float]:
    """Returns a setting at the beginning and at the end of a training."""
    return value if isinstance(value, tuple) else (value, value)


_STANDARD: Final = Training(
    preset="standard",
    total_timesteps=100_000_000,
    layers=(256, 256, 256),
    learning_rate=(1e-3, 2e-5),
    ent_coef=(0.05, 0.002),
    critic=(256, 256, 256),
    snapshot_every=5_000_000,
    measure_deals=1024,
)

PRESETS: Final = {
    "quick": Training(),
    "standard": _STANDARD,
    "champion": replace(
        _STANDARD,
        preset="champion",
        n_envs=4096,
        partners=("2*self", "population:train"),
        opponents=("2*self", "population:train", "heuristic"),
        against=("heuristic", "champion"),
    ),
}
"""By name: four minutes on two cores; an hour; hours on one core."""


@dataclass(frozen=True)
class Origins:
    """The options that say where the defaults of all others come from."""

    preset: str | None = None
    config: Path | None = None
    init: Path | None = None
    resume: Path | None = None

    @classmethod
    def read(cls, words: Sequence[str]) -> Self:
        """Reads these options of a command line, and ignores the others."""
        import tyro

        origins, _ = tyro.cli(
            cls,
            args=words,
            config=(tyro.conf.DisallowNone,),
            return_unknown_args=True,
            add_help=False,
        )
        return origins

    def defaults(self) -> Training:
        """Returns the settings of a command line that gives no others than these.

        Settings of a file override those of the preset, which the file may name. A file does
        not name the run.
        """
        from_file = {} if self.config is None else read_settings(self.config)
        preset = self.preset or from_file.get("preset")
        settings = PRESETS.get(preset if isinstance(preset, str) else "", PRESETS["quick"])
        if from_file:
            from_file |= {"name": None} | ({"init": str(self.init)} if self.init else {})
            try:
                settings = Training.from_config(settings.to_config() | from_file)
            except SettingError as error:
                raise SettingError(f"{self.config}: {error}") from error
        if self.init is not None:
            settings = replace(settings, layers=read_layer_widths(self.init))
        return settings


def read_layer_widths(path: Path) -> tuple[int, ...]:
    """Returns the widths of the layers of a policy's file, or raises a SettingError."""
    try:
        info, tensors = read_network(path)
    except OSError as error:
        raise SettingError(f"expected a policy's file: {error}") from error
    names = [f"layers.{number}.bias" for number in range(info.layers)]
    widths = (
        info.settings.get("layers")
        if info.policy
        else [len(tensors[name]) for name in names if name in tensors]
    )
    if not isinstance(widths, list) or not all(type(width) is int for width in widths):
        raise SettingError(f"expected a policy with layers, got {shortened(widths)} in {path}")
    check_widths("layers", widths, info.information.observation_size)
    return tuple(widths)


MAX_SETTINGS_BYTES: Final = 1 << 20
"""Largest size of a file of settings."""


def read_settings(path: Path) -> dict[str, Any]:
    """Returns the settings in a file of JSON, or of TOML where its name ends so.

    Raises a SettingError if it is something else.
    """
    try:
        encoded = read_limited(path, MAX_SETTINGS_BYTES)
        if path.suffix == ".toml":
            return tomllib.loads(encoded.decode())
        return decode(encoded, dict[str, Any], "settings of a training")
    except (OSError, ValueError) as error:
        raise SettingError(f"expected settings of a training in {path}: {error}") from error
