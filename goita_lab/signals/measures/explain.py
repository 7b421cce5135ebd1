"""Explains policies by shallow trees and networks by linear probes.

A tree may copy the many easy decisions and miss the few that matter (Bastani et al., VIPER,
arXiv:1805.08328), so it is judged by its points, too. A probe is compared with the exact belief,
because a low cross-entropy may mean a good network or an easy question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from goita_agents.asking import ask_probabilities
from goita_agents.base import Bool, Float, Int, Policy, certain, check_temperature, sample
from goita_agents.bots.network import NetworkAgent
from goita_env import View
from goita_env.actions import CALL, NUM_ACTIONS, PASS, decode
from goita_env.errors import SettingError, naming_extras
from goita_env.render import words
from goita_env.tiles import NAMES, NUM_KINDS, NUM_SEATS, PARTNER, RELATIVE_SEATS
from goita_env.views import NONE
from goita_lab.arena.statistics.intervals import Interval, mean_interval, rate_interval
from goita_lab.signals.listening import POLICY, ListenerKnowledge
from goita_lab.signals.measures.information_gain import over_deals
from goita_lab.signals.playing import Play, load_policy

TREE_DEPTH: Final = 4
"""Depth of a tree; a person can still read it."""
HELD_OUT_SHARE: Final = 0.3
"""Share of the deals that are held out of fitting, and measured."""
LEAF_POSITIONS: Final = 20
"""Fewest positions in a leaf."""
RARE_ACTION_SHARE: Final = 1e-6
"""Added to shares of actions, so that actions which were never seen are not impossible."""


YES_OR_NO: Final = frozenset(
    {
        "it leads",
        "the attack is the partner's",
        "a king lies face up",
        *(f"a {kind} attack is answered" for kind in NAMES),
    }
)
"""Features that are true or false."""


def view_features(view: View) -> tuple[list[str], Float]:
    """Returns the features of a seat's view for a tree: names and float64 [N, F].

    Own tiles, the attack answered and its owner, hand sizes, face-up tiles, attacks and passes.
    """
    answers = ~view.leads & (view.attack != NONE)
    attacked = np.maximum(view.attack, 0)[:, None].astype(np.int64)
    matching = np.take_along_axis(view.hand, attacked, axis=1)[:, 0]
    columns: dict[str, Any] = {f"{kind}s in hand": view.hand[:, k] for k, kind in enumerate(NAMES)}
    columns |= {
        "it leads": view.leads,
        "the attack is the partner's": answers & (view.attacker == PARTNER),
        "tiles in hand of the attacked kind": np.where(answers, matching, 0),
        "a king lies face up": view.king_up,
        "most of a kind in hand": view.hand[:, 1:].max(axis=1),
    }
    for k, kind in enumerate(NAMES):
        columns[f"a {kind} attack is answered"] = answers & (view.attack == k)
    columns["plays"] = view.num_plays
    for name, seat in RELATIVE_SEATS.items():
        columns[f"tiles in hand, {name}"] = view.hand_sizes[:, seat]
        attacks = view.attacks[:, seat]
        for k, kind in enumerate(NAMES):
            columns[f"{kind}s shown, {name}"] = view.face_up[:, seat, k]
            columns[f"{kind} attacks, {name}"] = (attacks == k).sum(axis=1)
        for k, kind in enumerate(NAMES[:-1]):
            columns[f"{name} passed on an opponent's {kind}"] = view.passed_opponents[:, seat, k]
            columns[f"{name} passed on its partner's {kind}"] = view.passed_partner[:, seat, k]
    return list(columns), np.column_stack([np.asarray(c, np.float64) for c in columns.values()])


class TreeAgent:
    """An agent that plays by a decision tree over ``view_features``.

    The tree passes or chooses the kind to attack with; the block is the policy's commonest for it.

    Args:
        tree: a fitted ``DecisionTreeClassifier`` of ``public_actions``.
        blocks: [2, 69] share of each action among the policy's answers, and among its leads.
        temperature: 0 takes the likeliest attack with its commonest block; 1 draws from the
            policy's actions in the same leaf, for use as a listener's model.
    """

    def __init__(
        self, tree: Any, blocks: Float, name: str = "tree", temperature: float = 0.0
    ) -> None:
        self.tree, self.blocks, self.name = tree, blocks, name
        self.temperature = check_temperature(temperature)

    def at(self, temperature: float) -> TreeAgent:
        return TreeAgent(self.tree, self.blocks, self.name, temperature)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the tree's actions: int64 [N]; at temperature 0 nothing is drawn."""
        probabilities = self.probabilities(view, legal)
        return sample(probabilities, rng) if self.temperature else probabilities.argmax(axis=1)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        public = np.zeros((len(view), NUM_ACTIONS))
        public[:, self.tree.classes_] = self.tree.predict_proba(view_features(view)[1])
        attack = public_actions(np.arange(NUM_ACTIONS))
        likely = np.where(legal, public[:, attack] + RARE_ACTION_SHARE, 0)
        blocks = np.where(legal, self.blocks[view.leads.astype(np.int64)] + RARE_ACTION_SHARE, 0)
        if self.temperature == 0:
            # The factor is too small to change the attack; it chooses the block.
            return certain((likely * (1 + 1e-3 * blocks)).argmax(axis=1))
        # An attack's probability is split over its legal blocks by their shares. Transposed, the
        # actions are rows, which ``add.at`` adds up by attack.
        totals = np.zeros_like(blocks)
        np.add.at(totals.T, attack, blocks.T)
        likely = (likely * blocks / np.maximum(totals[:, attack], RARE_ACTION_SHARE)) ** (
            1 / self.temperature
        )
        likely /= likely.sum(axis=1, keepdims=True)
        return likely


def public_actions(action: Int) -> Int:
    """Returns actions with block 0 in place of their own, so that an attack is one action."""
    plays = (action > PASS) & (action < CALL)
    return np.where(plays, 1 + (action - 1) % NUM_KINDS, action)


@dataclass(frozen=True)
class SpeakerTree:
    """A tree of a policy's actions, and how well it imitates the policy."""

    agent: TreeAgent
    text: str
    """The tree as indented questions."""
    leaves: int
    fidelity: Interval
    """Share of held-out decisions with a choice in which it takes the policy's likeliest action."""
    points: Interval
    """Points a round of a team of trees against a team of the policy, on duplicate deals."""
    positions: int


def speaker_tree(
    tree: TreeAgent, policy: str | Policy, played: Play, duel: Play, *, seed: int = 0
) -> SpeakerTree:
    """Measures a policy's tree: its fidelity, and its points against the policy.

    Args:
        tree: of ``fit_speaker(played, policy, seed=seed)``.
        policy: the policy to which the tree was fitted.
        played: rounds of the policy, of which some deals were held out.
        duel: rounds of the tree against the policy, on duplicate deals.
        seed: the seed of ``fit_speaker``.

    Raises:
        AgentError: if ``load_policy`` refuses the policy.
        SettingError: if there are too few deals.
    """
    fitted, held_out = _choices(played, seed)
    deals, deal = np.unique(played.deal[held_out], return_inverse=True)
    if len(deals) < 2:
        raise SettingError(f"expected held-out decisions of two deals, got {len(deals)}")
    view, legal = played.view(held_out), played.legal[held_out]
    action = ask_probabilities(load_policy(policy), view, legal).argmax(axis=1)
    agrees = ask_probabilities(tree, view, legal).argmax(axis=1) == action
    fidelity = rate_interval(np.bincount(deal, agrees), np.bincount(deal))
    names, _ = view_features(view[:1])  # the features have the same names in all positions
    text, leaves = tree_text(tree.tree, names), tree.tree.get_n_leaves()
    return SpeakerTree(tree, text, int(leaves), fidelity, duplicate_points(duel), len(fitted))


def fit_speaker(played: Play, policy: str | Policy, *, seed: int = 0) -> TreeAgent:
    """Fits a shallow tree to a policy's actions in positions with a choice.

    Deals that ``speaker_tree`` measures are left out. ``PolicyModel(tree, temperature=1)`` is a
    listener's model of the policy that fits on a card.
    """
    with naming_extras():
        from sklearn.tree import DecisionTreeClassifier  # it takes a second to load

    rows, _ = _choices(played, seed)
    if len(rows) < 2 * LEAF_POSITIONS:
        raise SettingError(f"expected {2 * LEAF_POSITIONS} positions at least, got {len(rows)}")
    view, legal = played.view(rows), played.legal[rows]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(9,)))
    imitated = load_policy(policy)
    action = sample(ask_probabilities(imitated, view, legal), rng)
    limits = {"max_depth": TREE_DEPTH, "min_samples_leaf": LEAF_POSITIONS}
    tree = DecisionTreeClassifier(**limits, random_state=seed % (1 << 32))
    tree.fit(view_features(view)[1], public_actions(action))
    blocks = np.zeros((2, NUM_ACTIONS))  # row 0 of answers, row 1 of leads
    np.add.at(blocks, (view.leads.astype(np.int64), action), 1 / len(rows))
    return TreeAgent(tree, blocks, f"tree of {imitated.name}")


def duplicate_points(duel: Play) -> Interval:
    """Returns the points a round of the first of two agents, which play each deal twice."""
    scored = duel.winner >= 0
    points = np.where(duel.seating[:, 0] == 0, duel.gained, -duel.gained)[scored]
    return mean_interval(points.reshape(-1, 2).mean(axis=1))


def tree_text(tree: Any, names: Sequence[str]) -> str:
    """Returns a fitted tree over whole numbers as indented questions with their answers.

    ``names``: of the features. The name of a feature of ``YES_OR_NO`` is a question itself; for any
    other feature the question is whether it reaches a number.
    """
    inner, lines = tree.tree_, []

    def walk(node: int, indent: str, answer: str) -> None:
        """Adds the lines of a node and those below it; ``answer`` leads to it from its parent."""
        if inner.children_left[node] < 0:
            counts = inner.value[node][0]
            action = int(tree.classes_[counts.argmax()])
            pair = decode(action)
            text = words.action(action) if pair is None else f"attack with a {NAMES[pair[1]]}"
            lines.append(f"{indent}{answer}{text} ({counts.max() / counts.sum():.0%})")
            return
        name, bound = names[inner.feature[node]], int(np.floor(inner.threshold[node]))
        question = (
            f"{name[0].upper()}{name[1:]}?" if name in YES_OR_NO else f"{name}: {bound + 1}+?"
        )
        lines.append(f"{indent}{answer}{question}")
        deeper = indent + ("  " if answer else "")
        walk(inner.children_left[node], deeper, "no: ")
        walk(inner.children_right[node], deeper, "yes: ")

    walk(0, "", "")
    return "\n".join(lines)


def _choices(played: Play, seed: int) -> tuple[Int, Int]:
    """Returns the decisions with a choice to fit to, and those of the held-out deals."""
    rows = np.flatnonzero(played.choice)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(8,)))
    held_out = _held_out(played, rows, rng)
    return rows[~held_out], rows[held_out]


def _held_out(played: Play, rows: Int, rng: np.random.Generator, fewest: int = 1) -> Bool:
    """Draws deals to hold out, and returns whether each row belongs to such a deal."""
    deals = rng.permutation(np.unique(played.deal[rows]))
    return np.isin(played.deal[rows], deals[: max(fewest, round(HELD_OUT_SHARE * len(deals)))])


@dataclass(frozen=True)
class Probe:
    """Cross-entropies of reading the partner's hand, in nats a kind: less is better."""

    network: Interval
    """Of a probe on the network's last shared layer."""
    untrained: Interval
    """Control: the same network with random weights."""
    hand_only: Interval
    """Control: the network sees another listener's history; the probe keeps its own hand."""
    exact: Interval
    """Of the exact belief: the lower bound in expectation."""
    prior: Interval
    """Of the belief given only the own hand."""
    efficiency: float
    """(prior - network) / (prior - exact); NaN where the exact belief is not better."""


def activation_probe(
    played: Play, knowledge: ListenerKnowledge, network: NetworkAgent, seed: int = 0
) -> Probe:
    """Measures how well a linear probe reads the partner's hand in a network, in nats a kind.

        gap = CE(q) - CE(b) >= 0 in expectation,   efficiency = (CE(prior) - CE(q)) / (CE(prior)
        - CE(b)),   CE(q) = mean over kinds of E[ -log q(the partner was dealt one of the kind) ]

    q is a logistic regression for each kind on the activations of the last shared layer and the own
    hand (Alain and Bengio, arXiv:1610.01644), fitted on deals that are not measured; b is the exact
    belief under the model "policy". Controls: untrained weights, and histories shuffled among
    listeners (Hewitt and Liang, arXiv:1909.03368, for why).
    """
    if not isinstance(network, NetworkAgent):
        raise SettingError(f"expected a network, got {network!r}")
    rows, rng = knowledge.row, np.random.default_rng(seed)
    deals, partner = len(np.unique(played.deal[rows])), (knowledge.listener + PARTNER) % NUM_SEATS
    if deals < 4:
        raise SettingError(f"expected four deals at least, got {deals}")
    truth = played.hands[played.deal[rows], partner] > 0
    held_out = _held_out(played, rows, rng, fewest=2)
    view = played.view(rows)
    others, hand = view[rng.permutation(len(rows))], np.asarray(view.hand, np.float64)
    random_network = network.untrained(seed)
    layers = network.features(view), random_network.features(view), network.features(others)
    # Probabilities [held-out rows, 8] in the order of the intervals of ``Probe``.
    readings = [_read(np.column_stack([layer, hand]), held_out, truth) for layer in layers]
    readings.append(knowledge.holds[held_out, knowledge.of(POLICY), PARTNER - 1])
    readings.append(knowledge.prior_holds[held_out, PARTNER - 1])
    # A decision's loss is the mean over kinds. (The list of columns keeps numpy's order of adding.)
    losses = [np.mean([*cross_entropy(q, truth[held_out]).T], axis=0) for q in readings]
    intervals = [over_deals(played, rows[held_out], loss) for loss in losses]
    trained, untrained, hand_only, exact, prior = intervals
    readable = prior.mean - exact.mean
    efficiency = (prior.mean - trained.mean) / readable if readable > 0 else float("nan")
    return Probe(trained, untrained, hand_only, exact, prior, efficiency)


def cross_entropy(probability: Float, truth: Bool) -> Float:
    """Returns -log of the probability given to each truth, at most -log 0.001, in nats."""
    return np.asarray(-np.log(np.maximum(np.where(truth, probability, 1 - probability), 1e-3)))


def _read(inputs: Float, held_out: Bool, truth: Bool) -> Float:
    """Fits a probe of ``truth`` [n, 8] for each kind; returns probabilities [held-out rows, 8].

    Probes see ``inputs`` [n, F] and are fitted on the rows that are not held out.
    """
    with naming_extras():
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

    columns = []
    for holds in truth.T:
        if len(np.unique(holds[~held_out])) < 2:  # a regression needs both answers
            columns.append(np.full(int(held_out.sum()), holds[~held_out].mean()))
            continue
        regression = LogisticRegression(C=0.01, max_iter=500)
        probe = make_pipeline(StandardScaler(), regression)
        probe.fit(inputs[~held_out], holds[~held_out])
        columns.append(probe.predict_proba(inputs[held_out])[:, 1])
    return np.column_stack(columns)
