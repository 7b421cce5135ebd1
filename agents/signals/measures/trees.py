"""Explains policies by shallow trees: fidelity, and the points that the tree makes as it plays.

Fidelity without return misleads: a tree may copy the many easy decisions and lose the few that
matter (Bastani et al., VIPER, arXiv:1805.08328). So both are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from agents.base import Bool, Float, Int, certain, sample
from agents.signals.contexts import KINDS
from agents.signals.listening import PARTNER
from agents.signals.measures.estimates import over_deals
from agents.signals.playing import Play, load_policy, play
from agents.statistics.intervals import Interval, mean_interval, rate_interval
from goita_env import View
from goita_env.actions import CALL, NUM_ACTIONS, PASS, decode
from goita_env.actions import name as action_name
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import NONE

DEPTH: Final = 4
"""Depth of a tree that a person still reads."""

HELD_OUT: Final = 0.3
"""Share of the deals on which fidelity is measured; the tree has not seen them."""

LEAST: Final = 20
"""Positions in a leaf at least."""

RARE: Final = 1e-6
"""Added to shares of actions, so that what was never seen is not impossible."""

_SEAT_NAMES: Final = ("own", "next", "partner", "previous")


def view_features(view: View) -> tuple[list[str], Float]:
    """Returns what a tree may ask of a seat's view: names and float64 [N, F].

    Own tiles of each kind, what lies face up of each seat, the attack that is answered and whose it
    is, hand sizes, and who passed on an attack of which kind by the partner or by an opponent.
    """
    answers = ~view.leads & (view.attack != NONE)
    columns: dict[str, Any] = {f"{kind}s in hand": view.hand[:, k] for k, kind in enumerate(KINDS)}
    same = np.where(
        answers,
        np.take_along_axis(view.hand, np.maximum(view.attack, 0)[:, None].astype(np.int64), axis=1)[
            :, 0
        ],
        0,
    )
    columns |= {
        "it leads": view.leads,
        "the attack is the partner's": answers & (view.attacker == PARTNER),
        "tiles in hand of the attacked kind": same,
        "a king lies face up": view.king_up,
        "most of a kind in hand": view.hand[:, 1:].max(axis=1),
    }
    columns |= {
        f"a {kind} attack is answered": answers & (view.attack == k) for k, kind in enumerate(KINDS)
    }
    columns |= _public_columns(view)
    return list(columns), np.column_stack([np.asarray(c, np.float64) for c in columns.values()])


def public_features(view: View) -> tuple[list[str], Float]:
    """Returns what a tree of the listener may ask: what all see, and its own hand; as above."""
    columns = {f"own {kind}s": view.hand[:, k] for k, kind in enumerate(KINDS)}
    columns |= _public_columns(view)
    return list(columns), np.column_stack([np.asarray(c, np.float64) for c in columns.values()])


class TreeAgent:
    """Plays by a decision tree over features of its view.

    The tree says whether to pass or what to attack with; the block is the one that the policy lays
    most often beside it, leads and answers apart.

    Args:
        tree: a fitted ``DecisionTreeClassifier`` of what ``said`` makes of actions.
        blocks: [2, 69] share of each action among the policy's, as an answer and as a lead.
        name: its name.
        temperature: 0 takes the likeliest attack, with its commonest block; 1 takes each action as
            often as the policy did in the same leaf, which is how a listener reads a tree.
    """

    def __init__(
        self, tree: Any, blocks: Float, name: str = "tree", temperature: float = 0.0
    ) -> None:
        self.tree, self.blocks, self.name, self.temperature = tree, blocks, name, temperature

    def at(self, temperature: float) -> TreeAgent:
        """Returns the same tree at another temperature."""
        return TreeAgent(self.tree, self.blocks, self.name, temperature)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the tree's action in each row: int64 [N]; at temperature 0 nothing is drawn."""
        known = self.probabilities(view, legal)
        return sample(known, rng) if self.temperature else known.argmax(axis=1)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        said_so = np.zeros((len(view), NUM_ACTIONS))
        said_so[:, self.tree.classes_] = self.tree.predict_proba(view_features(view)[1])
        attack = said(np.arange(NUM_ACTIONS))
        likely = np.where(legal, said_so[:, attack] + RARE, 0)
        blocks = np.where(legal, self.blocks[view.leads.astype(np.int64)] + RARE, 0)
        if self.temperature == 0:
            return certain((likely * (1 + 1e-3 * blocks)).argmax(axis=1))
        alike = np.zeros_like(blocks)
        np.add.at(alike.T, attack, blocks.T)
        likely = (likely * blocks / np.maximum(alike[:, attack], RARE)) ** (1 / self.temperature)
        found: Float = likely / likely.sum(axis=1, keepdims=True)
        return found


def said(action: Int) -> Int:
    """Returns what actions say: those that attack alike count as the one with block 0."""
    play_ = (action > PASS) & (action < CALL)
    return np.where(play_, 1 + (action - 1) % NUM_KINDS, action)


@dataclass(frozen=True)
class SpeakerTree:
    """Holds a tree of a policy's actions and what it is worth."""

    agent: TreeAgent
    """Plays by it."""
    text: str
    """The tree in words."""
    leaves: int
    """How many leaves it has: its length."""
    fidelity: Interval
    """Share of the held-out decisions with a choice in which it takes the policy's action."""
    points: Interval
    """Points a round of two trees against two of the policy, duplicate deals; below 0 it loses."""
    positions: int
    """Positions that it was fitted to."""


def speaker_tree(
    told: Play,
    policy: str,
    *,
    depth: int = DEPTH,
    rounds: int = 1_000,
    seed: int = 0,
) -> SpeakerTree:
    """Fits a shallow tree to what a policy does, and has it play.

    fidelity = share of agreement on held-out deals; points = mean of duplicate deals against the
    policy. The tree is fitted to the policy's actions in the positions with a choice, and agrees
    where it takes the likeliest.

    Args:
        told: positions.
        policy: text of the policy that is explained.
        depth: of the tree.
        rounds: played against it; even.
        seed: of the held-out deals, the tree and the rounds.

    Raises:
        AgentError: if the policy is none.
        SettingError: if there are too few deals.
        ImportError: if scikit-learn is missing.
    """
    agent = fit_speaker(told, policy, depth=depth, seed=seed)
    fitted, held = _choices(told, seed)
    deals, which = np.unique(told.deal[held], return_inverse=True)
    if len(deals) < 2:
        raise SettingError(f"expected held-out decisions of two deals, got {len(deals)}")
    view, legal = told.view(held), told.legal[held]
    action = load_policy(policy).probabilities(view, legal).argmax(axis=1)
    same = (agent.probabilities(view, legal).argmax(axis=1) == action).astype(np.float64)
    return SpeakerTree(
        agent,
        tree_text(agent.tree, view_features(view[:1])[0], _answer),
        int(agent.tree.get_n_leaves()),
        rate_interval(np.bincount(which, same), np.bincount(which).astype(np.float64)),
        duplicate_points(agent, policy, rounds, seed),
        len(fitted),
    )


def fit_speaker(told: Play, policy: str, *, depth: int = DEPTH, seed: int = 0) -> TreeAgent:
    """Fits a shallow tree to what a policy does in some positions.

    ``Assumed(tree, temperature=1)`` is a listener's picture of the policy that fits on a card.

    Args:
        told: positions; those with a choice are used, but for held-out deals.
        policy: text of the policy.
        depth: of the tree.
        seed: of the held-out deals, the policy's actions and the tree.

    Raises:
        AgentError: if the policy is none.
        SettingError: if there are too few positions.
        ImportError: if scikit-learn is missing.
    """
    rows, _ = _choices(told, seed)
    view, legal = told.view(rows), told.legal[rows]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(9,)))
    action = sample(load_policy(policy).probabilities(view, legal), rng)
    tree = fit_tree(view_features(view)[1], said(action), depth, seed)
    blocks = np.zeros((2, NUM_ACTIONS))
    np.add.at(blocks, (view.leads.astype(np.int64), action), 1 / len(rows))
    return TreeAgent(tree, blocks, f"tree of {policy}")


def duplicate_points(agent: TreeAgent, policy: str, rounds: int, seed: int = 0) -> Interval:
    """Returns the points a round of an agent's team against a policy's, on duplicate deals.

    Args:
        agent: sits at both seats of a team.
        policy: at both seats of the other.
        rounds: even.
        seed: of deals and random numbers.
    """
    told = play([agent, policy], rounds, seed=seed)
    scored = told.winner >= 0
    sign = np.where(told.seating[scored, 0] == 0, 1, -1)
    points = np.zeros(rounds)
    points[told.round[scored]] = told.gained[scored] * sign
    return mean_interval(points.reshape(-1, 2).mean(axis=1))


@dataclass(frozen=True)
class ListenerTree:
    """Holds a tree that reads one fact about the partner's hand from what all see."""

    fact: str
    """The fact."""
    text: str
    """The tree in words."""
    leaves: int
    """How many leaves it has."""
    tree: Interval
    """Cross-entropy of the fact under the tree on held-out deals, nats; less is better."""
    exact: Interval
    """The same under the exact belief of the decoder: what can be known."""
    prior: Interval
    """The same under the share of the fact in the fitted deals: what is known without listening."""
    efficiency: float
    """(prior - tree) / (prior - exact): share of what can be known that the tree reads."""


def listener_tree(
    told: Play,
    rows: Int,
    belief: Float,
    truth: Bool,
    fact: str,
    *,
    depth: int = DEPTH,
    seed: int = 0,
) -> ListenerTree:
    """Fits a shallow tree that reads a fact about the partner's hand, beside the exact listener.

        CE(q) = E[ -log q(fact as it is | what the listener saw) ]      [nats]

    Args:
        told: the play.
        rows: [n] decisions of the listeners, what they saw is what the tree reads.
        belief: [n] probability of the fact by the exact listener.
        truth: [n] the fact as it is.
        fact: its name.
        depth: of the tree.
        seed: of the held-out deals and the tree.

    Raises:
        SettingError: if there are too few deals, or the fact is always the same.
        ImportError: if scikit-learn is missing.
    """
    names, asked = public_features(told.view(rows))
    held = _held_out(told.deal[rows], seed)
    if len(np.unique(truth[~held])) < 2 or len(np.unique(told.deal[rows][held])) < 2:
        raise SettingError(f"expected deals in which {fact!r} holds and others, got too few")
    tree = fit_tree(asked[~held], truth[~held].astype(np.int64), depth, seed)
    read = tree.predict_proba(asked[held])[:, 1]
    right, deal = truth[held], told.deal[rows][held]
    losses = [
        over_deals(cross_entropy(q, right), deal)
        for q in (read, belief[held], np.full(len(right), truth[~held].mean()))
    ]
    gained = losses[2].mean - losses[1].mean
    return ListenerTree(
        fact,
        tree_text(tree, names, lambda held: fact if held else f"not: {fact}"),
        int(tree.get_n_leaves()),
        losses[0],
        losses[1],
        losses[2],
        (losses[2].mean - losses[0].mean) / gained if gained > 0 else float("nan"),
    )


def cross_entropy(probability: Float, truth: Bool) -> Float:
    """Returns -log of what was said of what is so, at most -log 0.001, in nats: [n]."""
    said = np.where(truth, probability, 1 - probability)
    found: Float = -np.log(np.maximum(said, 1e-3))
    return found


def fit_tree(asked: Float, answer: Int, depth: int, seed: int) -> Any:
    """Returns a fitted tree.

    Raises:
        SettingError: if there are too few positions.
        ImportError: if scikit-learn is missing.
    """
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise ImportError("trees need scikit-learn: pip install 'goita-env[signals]'") from error
    if len(answer) < 2 * LEAST:
        raise SettingError(f"expected {2 * LEAST} positions at least, got {len(answer)}")
    tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=LEAST, random_state=seed)
    return tree.fit(asked, answer)


def tree_text(tree: Any, names: Sequence[str], answers: Callable[[int], str]) -> str:
    """Returns a tree of whole-number features as indented questions.

    Args:
        tree: a fitted tree.
        names: of the features.
        answers: words of a class.
    """
    inner, lines = tree.tree_, []

    def walk(node: int, indent: str) -> None:
        if inner.children_left[node] < 0:
            counts = inner.value[node][0]
            best = int(tree.classes_[counts.argmax()])
            lines.append(f"{indent}{answers(best)} ({counts.max() / counts.sum():.0%})")
            return
        name, bound = names[inner.feature[node]], int(np.floor(inner.threshold[node]))
        lines.append(f"{indent}{name} at most {bound}:")
        walk(inner.children_left[node], indent + "  ")
        lines.append(f"{indent}more:")
        walk(inner.children_right[node], indent + "  ")

    walk(0, "")
    return "\n".join(lines)


def _answer(number: int) -> str:
    """Returns the answer of a leaf in words: an action, or 0 and 1 for facts."""
    pair = decode(number)
    return action_name(number) if pair is None else f"attack with a {KINDS[pair[1]]}"


def _public_columns(view: View) -> dict[str, Any]:
    """Returns what all seats see, column by column."""
    columns: dict[str, Any] = {"plays": view.num_plays}
    for seat in range(1, NUM_SEATS):
        who = _SEAT_NAMES[seat]
        columns[f"tiles in hand, {who}"] = view.hand_sizes[:, seat]
        attacks = view.attacks[:, seat]
        for k, kind in enumerate(KINDS):
            columns[f"{kind}s shown, {who}"] = view.face_up[:, seat, k]
            columns[f"{kind} attacks, {who}"] = (attacks == k).sum(axis=1)
        for k in range(NUM_KINDS - 1):
            columns[f"{who} passed on an opponent's {KINDS[k]}"] = view.passed_opponents[:, seat, k]
            columns[f"{who} passed on its partner's {KINDS[k]}"] = view.passed_partner[:, seat, k]
    return columns


def _choices(told: Play, seed: int) -> tuple[Int, Int]:
    """Returns the decisions with a choice that a tree is fitted to, and those held out."""
    rows = np.flatnonzero(told.choice)
    held = _held_out(told.deal[rows], seed)
    return rows[~held], rows[held]


def _held_out(deal: Int, seed: int) -> Bool:
    """Returns which rows are of deals that are held out: bool [n]."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(8,)))
    every = np.unique(deal)
    chosen = rng.permutation(every)[: max(1, round(HELD_OUT * len(every)))]
    return np.isin(deal, chosen)
