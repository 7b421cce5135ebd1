"""Seats frozen players in a training: a pool of opponents, given opponents, or partners.

In a share of the games one team is played by a frozen opponent. Games are grouped, and a group
has one opponent, and one partner, at a time, so that each of them answers for many positions at
once; a game keeps both to the end of its episode. Only the learner's own decisions are learnt from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_agents.asking import ask_actions, build_agent
from goita_agents.base import Agent, AgentError, Bool, Float, Int, StatefulAgent
from goita_agents.registry import check_plays, expand
from goita_env.envs.vector import StepResult
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.seeds import bot_generator
from goita_env.tiles import NUM_SEATS

LEARNING_POLICY: Final = "self"
"""The policy that learns, among the names of players."""

_WEIGHTED: Final = re.compile(r"(\d+(?:\.\d+)?)\*(.+)", re.DOTALL)
LEARNER: Final = -1  # owner of a seat of the learning policy; frozen players count from 0
OPPONENT_GROUPS: Final = 4
"""Opponents that play at the same time; after each rollout one group of games draws another."""
MANY_GROUPS: Final = 8  # the same where several partners or opponents are given
AGE_HALVING: Final = 4.0  # later snapshots that make a snapshot half as likely to be drawn
POINTS_SCALE: Final = 10.0  # points per round by which easy opponents are drawn less, logistic
AVERAGED_ROUNDS: Final = 2000  # over which results against a player are averaged


def read_weighted(texts: Sequence[str]) -> dict[str, float]:
    """Returns the weights of the players that texts name, by name.

    ``3*greedy`` weighs three times as much as ``greedy``. A set of the population weighs as much as
    one agent, which its members share. A name that occurs twice has the sum of its weights.
    """
    weights: dict[str, float] = {}
    for text in texts:
        name, weight = split_weight(text)
        if not weight > 0:
            raise SettingError(f"expected a weight above 0, got {text!r}")
        names = expand([name])
        for name in names:
            weights[name] = weights.get(name, 0.0) + weight / len(names)
    return weights


def players_of(*lists: Sequence[str]) -> tuple[str, ...]:
    """Returns the players in lists of weighted texts, each once, the policy itself left out."""
    names = (name for texts in lists for name in read_weighted(texts))
    return tuple(dict.fromkeys(name for name in names if name != LEARNING_POLICY))


def split_weight(text: str) -> tuple[str, float]:
    """Returns the name in a text and its weight, 1 if it has none."""
    match = _WEIGHTED.fullmatch(text)
    return (match[2], float(match[1])) if match else (text, 1.0)


def named_agents(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the agents among texts, without weights; the policy itself and sets are left out."""
    names = [split_weight(text)[0] for text in texts]
    return tuple(name for name in names if name != LEARNING_POLICY and expand([name]) == (name,))


@dataclass
class PoolPlayer:
    """The learner's results against one frozen player, or with it as a partner."""

    name: str  # of an agent; empty for a snapshot
    decisions: int = 0  # of a snapshot's training
    points: float = 0.0  # per round, of the learner; 0 before the first round
    rounds: int = 0

    def learn(self, points: float, rounds: int) -> None:
        self.rounds += rounds
        share = min(1.0, rounds / min(self.rounds, AVERAGED_ROUNDS))
        self.points += (points - self.points) * share

    def hardness(self) -> float:
        """Returns a weight from 0 to 1, the greater the fewer points the learner makes."""
        return 1 / (1 + exp(self.points / POINTS_SCALE))


class OpponentPool:
    """A pool of frozen players: it assigns seats to them and has them act.

    Args:
        games: number of parallel games, N.
        share: of the games in which one team is a frozen opponent's.
        agents: further opponents, without a memory: texts of ``read_weighted``.
        snapshots: whether snapshots are opponents, too.
        first: whether the very first one is, as it should where training began with a policy.
        partners: of the learner in all games, likewise; empty: the learner itself.
        seed: of draws and play.
        information: shown tiles and messages in the games.

    Attributes:
        known: decisions of the snapshots that may be drawn, ascending; set from outside.
        load: returns the snapshot of so many decisions as a player; set from outside.
        owner: int64 [N, 4] who plays each seat.
    """

    def __init__(
        self,
        games: int,
        *,
        share: float,
        agents: Sequence[str] = (),
        snapshots: bool = True,
        first: bool = False,
        partners: Sequence[str] = (),
        seed: int = 0,
        information: InformationStructure = PLAIN,
    ) -> None:
        if not 0 <= share <= 1:
            raise SettingError(f"expected a share from 0 to 1, got {share!r}")
        self._snapshots, self._first = snapshots, first
        self._rng = bot_generator(seed, "pool")
        self.known: Sequence[int] = ()
        self.load: Callable[[int], Agent]
        opponent_weights, partner_weights = read_weighted(agents), read_weighted(partners)
        self._num_opponents, self._num_partners = len(opponent_weights), len(partner_weights)
        self._weights = [*opponent_weights.values(), *partner_weights.values()]
        self._agents = [*opponent_weights, *partner_weights]
        self.players = [PoolPlayer(name) for name in self._agents]
        self._built = {
            index: build_agent(name)
            for index, name in enumerate(self._agents)
            if name != LEARNING_POLICY
        }
        """Agents by their index among ``players``."""
        for index, agent in self._built.items():
            if isinstance(agent, StatefulAgent):
                raise AgentError(f"expected an agent without a memory, got {self._agents[index]!r}")
            check_plays(agent, self._agents[index], information)
        several = self._num_partners > 1 or (self._num_opponents > 1 and not snapshots)
        self._groups = groups = MANY_GROUPS if several else OPPONENT_GROUPS
        game = np.arange(games)
        self._group = np.where(game < round(share * games), game % groups, LEARNER)
        """[N] Group of the games in which an opponent is frozen; LEARNER in other games."""
        # Group, team and seat are digits of the game's number: all combinations are equally
        # frequent.
        self._team = (game // groups) % 2
        """[N] Team of the frozen opponent: 0 for seats 0 and 2, 1 for the others."""
        self._partner_seat = 2 * ((game // (2 * groups)) % 2)[:, None] + np.array([0, 1])
        """[N, 2] Seat of the frozen partner in team 0, and in team 1."""
        self.owner = np.full((games, NUM_SEATS), LEARNER)
        self._opponent_of = np.full(groups, LEARNER)
        """[groups] Index of each group's opponent, until the next draw."""
        self._partner_of = np.full(
            groups, self._num_opponents if self._num_partners == 1 else LEARNER
        )
        """[groups] Index of each group's partner; partners follow the opponents in ``players``."""
        self._rollouts = 0
        self._anew = True
        self._points, self._rounds = 0, 0

    def begin(self) -> None:
        """Has the next rollout assign all seats, since all games begin anew."""
        self._anew = True

    def draw_opponents(self) -> None:
        """Draws opponents and partners, once a rollout: for one group, and groups without.

        A single partner never changes, so it is not drawn.
        """
        turn = self._rollouts % self._groups
        for group in range(self._groups):
            if group == turn or self._opponent_of[group] == LEARNER:
                self._opponent_of[group] = self._draw_opponent()
            if self._num_partners > 1 and (group == turn or self._partner_of[group] == LEARNER):
                self._partner_of[group] = self._draw_partner()
        self._rollouts += 1
        if self._anew:
            self._seat(np.arange(len(self.owner)))
            self._anew = False
        self._drop_unused_snapshots()

    def split(self, turn: StepResult, rows: Int) -> tuple[Int, Int]:
        """Returns which of some games ask the learner now, and which a frozen player."""
        learner = self.owner[rows, turn.seat[rows]] == LEARNER
        return rows[learner], rows[~learner]

    def act(self, turn: StepResult, legal: Bool, rows: Int) -> Int:
        """Returns the actions [n] of the frozen players that the games ``rows`` ask."""
        owner = self.owner[rows, turn.seat[rows]]
        actions = np.zeros(len(rows), np.int64)
        for index in np.unique(owner).tolist():
            acts = owner == index
            games = rows[acts]
            if index not in self._built:
                self._built[index] = self.load(self.players[index].decisions)
            player = self._built[index]
            actions[acts] = ask_actions(player, turn.view[games], legal[games], self._rng)
        return actions

    def after_step(self, turn: StepResult) -> None:
        """Records the rounds that a step ended, and assigns the seats of new episodes."""
        # Rounds that ended against a frozen opponent, whose team's first seat is ``_team``.
        ended = np.flatnonzero((turn.winner >= 0) & (self._group != LEARNER))
        opponent = self.owner[ended, self._team[ended]]
        ended, opponent = ended[opponent != LEARNER], opponent[opponent != LEARNER]
        won = turn.winner[ended] % 2 != self._team[ended]
        points = np.where(won, 1, -1) * turn.points[ended]
        self._points, self._rounds = self._points + int(points.sum()), self._rounds + len(points)
        learner_team = 1 - self._team[ended]
        partner = self.owner[ended, self._partner_seat[ended, learner_team]]
        for players in (opponent, partner):
            for index in {*np.unique(players).tolist()} - {LEARNER}:
                player_points = points[players == index]
                self.players[index].learn(float(player_points.mean()), len(player_points))
        ended_episodes = np.flatnonzero(turn.done)
        if len(ended_episodes):
            self._seat(ended_episodes)

    def pop_results(self) -> tuple[float, int]:
        """Returns the learner's points per round since the last call, and the rounds."""
        results = self._points / max(self._rounds, 1), self._rounds
        self._points, self._rounds = 0, 0
        return results

    def needed(self) -> list[int]:
        """Returns the snapshots that play in some game, by their decisions."""
        return [p.decisions for p in (self.players[n] for n in self._in_use()) if not p.name]

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Returns the state from which the pool continues, as JSON and arrays, without agents."""
        state = {
            "players": [(p.decisions, p.points, p.rounds) for p in self.players],
            "rollouts": self._rollouts,
            "anew": self._anew,
            "random": self._rng.bit_generator.state,
        }
        return state, {"owner": self.owner, "now": self._opponent_of, "mates": self._partner_of}

    def load_state(self, state: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Continues from the ``state`` of a pool with the same arguments."""
        players = state["players"]
        names = [*self._agents, *[""] * (len(players) - len(self._agents))]  # then snapshots
        self.players = [
            PoolPlayer(name, *fields) for name, fields in zip(names, players, strict=True)
        ]
        self.owner, self._opponent_of = arrays["owner"].copy(), arrays["now"].copy()
        self._partner_of = arrays["mates"].copy()
        self._rollouts, self._anew = state["rollouts"], state["anew"]
        self._rng.bit_generator.state = state["random"]

    def _in_use(self) -> set[int]:
        players = np.concatenate((self.owner.ravel(), self._opponent_of, self._partner_of))
        return {*np.unique(players).tolist()} - {LEARNER}

    def _seat(self, games: Int) -> None:
        """Assigns the seats of games whose next episode begins."""
        self.owner[games] = LEARNER
        # A partner gets its seat in both teams; the opponents then overwrite one of them.
        partner = self._partner_of[games % self._groups]
        frozen = self._is_frozen(partner)
        self.owner[games[frozen, None], self._partner_seat[games[frozen]]] = partner[frozen, None]
        # Without a group, LEARNER (-1) reads the last group, and ``where`` drops it.
        group = self._group[games]
        opponent = np.where(group == LEARNER, LEARNER, self._opponent_of[group])
        frozen = self._is_frozen(opponent)
        games, opponent = games[frozen], opponent[frozen]
        for seat in (self._team[games], self._team[games] + 2):
            self.owner[games, seat] = opponent

    def _is_frozen(self, players: Int) -> Bool:
        """Returns which players, given by their indices [n], are not the learner: bool [n]."""
        own = [index for index, player in enumerate(self.players) if player.name == LEARNING_POLICY]
        return ~np.isin(players, [LEARNER, *own])

    def _draw_opponent(self) -> int:
        """Returns the index of an opponent, or LEARNER if there is none.

        Recent snapshots and hard opponents are drawn more often. An agent weighs as much as the
        latest snapshot.
        """
        indices: list[int] = [*range(self._num_opponents)]
        ages = [0] * self._num_opponents  # number of later snapshots
        if self._snapshots:
            snapshots = [decisions for decisions in self.known if decisions or self._first]
            indices += [self._index(decisions) for decisions in snapshots]
            ages += [*range(len(snapshots))][::-1]
        if not indices:
            return LEARNER
        base_weights = [
            self._weights[index] if index < self._num_opponents else 1.0 for index in indices
        ]
        weights = [
            weight * 0.5 ** (age / AGE_HALVING) * self.players[index].hardness()
            for index, age, weight in zip(indices, ages, base_weights, strict=True)
        ]
        return indices[self._pick(np.array(weights))]

    def _draw_partner(self) -> int:
        """Returns the index of a partner, drawn by the weights in the partners' texts."""
        return self._num_opponents + self._pick(np.array(self._weights[self._num_opponents :]))

    def _drop_unused_snapshots(self) -> None:
        """Forgets the networks of snapshots that play nowhere."""
        for index in self._built.keys() - self._in_use():
            if not self.players[index].name:
                del self._built[index]

    def _pick(self, weights: Float) -> int:
        """Returns the index of one of the weights, drawn in proportion to them."""
        sums = weights.cumsum()
        return int(np.searchsorted(sums, self._rng.random() * sums[-1], side="right"))

    def _index(self, decisions: int) -> int:
        """Returns a snapshot's index among ``players``, to which a new snapshot is added."""
        for index, player in enumerate(self.players):
            if not player.name and player.decisions == decisions:
                return index
        self.players.append(PoolPlayer("", decisions))
        return len(self.players) - 1
