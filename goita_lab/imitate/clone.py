"""Clones a player's behaviour: a network is fitted to its actions and held close to another.

The loss of a decision is -log model(action) + weight * KL(start || model). ``start`` is the network
that learning begins with, at the temperature at which it predicts the player best. Its divergence
from the model, and not the model's from it, has two effects that few games need: an action that the
start holds impossible costs the model nothing, since a stranger may play otherwise; and every
action keeps at least weight / (1 + weight) of the start's probability, so nothing that was never
seen becomes impossible. The sum is the cross-entropy to (observed + weight * start) / (1 + weight),
as if each decision had been seen ``weight`` times more, with the start's answers.

The weight falls step by step, each step from where the one before ended, until held-out games are
predicted no better. So few games give a model close to its start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

from goita_agents.asking import ask_probabilities
from goita_agents.base import AgentError, Bool
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import Array
from goita_env.information import PLAIN
from goita_env.views import observation as packing
from goita_env.views.observation import Words
from goita_lab.imitate.examples import Examples, Split, predict

WEIGHTS: Final = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)

PASSES: Final = 8
"""Passes over the training decisions at each weight."""

FEWEST_STEPS: Final = 100
"""Steps at each weight, where these passes have fewer."""

RATE: Final = 1e-3
"""Of Adam; it falls to 0 at each weight."""

PATIENCE: Final = 2
"""Weights in a row that predict no better, after which learning ends."""


@dataclass(frozen=True)
class Tried:
    """How well a weight predicts the games that it is chosen on."""

    weight: float  #: infinite: the start, unchanged
    log_likelihood: float  #: nats a decision, at the best temperature
    temperature: float  #: the best
    accuracy: float
    divergence: float  #: mean KL(start || model), nats


@dataclass(frozen=True)
class Clone:
    """A network that predicts a player, and how its weight was chosen."""

    agent: NetworkAgent
    """At temperature 1 its probabilities fit the games that the weight was chosen on."""
    weight: float
    start_temperature: float
    tried: tuple[Tried, ...]


def imitate(
    split: Split,
    start: NetworkAgent,
    *,
    seed: int = 0,
    progress: Callable[[float], object] = lambda _: None,
) -> Clone:
    """Learns to predict the actions of ``split.train``, as ``split.validation`` wants it.

    Args:
        split: the decisions; ``test`` is not looked at.
        start: the network to begin with and to stay close to.
        seed: of the order of decisions and of what a step leaves out.
        progress: is called with the share of the work that is done.
    """
    with threadpool_limits(1, user_api="blas"):  # more change results, and threads would spin
        heat, _ = predict(start, split.train).fit(split.train)
        start = heated(start, heat)
        learner = PolicyLearner(start, seed)
        rng = np.random.default_rng(seed)
        best, found = _try(learner.tensors(), np.inf, start, split.validation)
        tried, since = [found], 0
        for weight in _descend(learner, split.train, rng, progress):
            agent, found = _try(learner.tensors(), weight, start, split.validation)
            better = found.log_likelihood > max(one.log_likelihood for one in tried)
            best, since = (agent, 0) if better else (best, since + 1)
            tried.append(found)
            if since == PATIENCE:
                break
    progress(1.0)
    chosen = max(tried, key=lambda one: one.log_likelihood)
    info = replace(best.info, decisions=len(split.train), rules=split.train.rules)
    tensors = best.tensors()
    for name in ("value.weight", "value.bias"):  # a clone predicts actions, not points
        tensors[name] = np.zeros_like(tensors[name])
    return Clone(NetworkAgent(info, tensors), chosen.weight, heat, tuple(tried))


def check_start(agent: object, name: str) -> NetworkAgent:
    """Returns an agent that a clone can begin with; an AgentError if it is no plain network."""
    if not isinstance(agent, NetworkAgent):
        raise AgentError(
            f"expected a network to begin with, such as champion or file:PATH, got {name!r}"
        )
    if agent.information != PLAIN or agent.transform:
        raise AgentError(
            f"expected a network of the base game that sees whole observations, got {name!r}"
        )
    return agent


def heated(network: NetworkAgent, temperature: float) -> NetworkAgent:
    """Returns a network that plays at temperature 1 as this one does at another."""
    tensors = network.tensors()
    for name in ("policy.weight", "policy.bias"):
        tensors[name] = (tensors[name] / temperature).astype(np.float32)
    return NetworkAgent(network.info, tensors, network.temperature)


def _descend(
    learner: PolicyLearner,
    examples: Examples,
    rng: np.random.Generator,
    progress: Callable[[float], object],
) -> Iterator[float]:
    """Learns at one weight after another; yields each when it has been learned at."""
    prior = np.exp(learner.log_probabilities(examples.words, examples.legal))
    for number, weight in enumerate(WEIGHTS):
        targets = prior * np.float32(weight / (1 + weight))
        targets[np.arange(len(targets)), examples.action] += np.float32(1 / (1 + weight))
        for done in _learn(learner, examples, targets, rng):
            progress((number + done) / len(WEIGHTS))
        yield weight


def _learn(
    learner: PolicyLearner, examples: Examples, targets: Array, rng: np.random.Generator
) -> Iterator[float]:
    """Learns at one weight; yields the share of it that is done."""
    each = -(-len(examples) // BATCH)
    passes = max(PASSES, -(-FEWEST_STEPS // each))
    for number in range(passes):
        order = rng.permutation(len(examples))
        for step, begin in enumerate(range(0, len(order), BATCH)):
            rows = order[begin : begin + BATCH]
            rate = RATE * (1 - (number * each + step) / (passes * each))
            learner.step(examples.words[rows], examples.legal[rows], targets[rows], rate)
        yield (number + 1) / passes


def _try(
    tensors: dict[str, Array], weight: float, start: NetworkAgent, validation: Examples
) -> tuple[NetworkAgent, Tried]:
    """Returns the network at its best temperature, and how well it predicts."""
    network = NetworkAgent(start.info, tensors)
    temperature, _ = predict(network, validation).fit(validation)
    network = heated(network, temperature)
    view, legal = validation.view(), validation.legal
    mine, other = (ask_probabilities(one.at(1.0), view, legal) for one in (network, start))
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(other > 0, other * np.log(other / mine), 0.0).sum(axis=1)
    return network, Tried(
        weight,
        float(np.log(validation.taken(mine)).mean()),
        temperature,
        float((mine.argmax(axis=1) == validation.action).mean()),
        float(apart.mean()),
    )


BATCH: Final = 256

DROPOUT: Final = 0.2
"""Share of the shared layers' units that a step of learning leaves out (Srivastava et al. 2014).
On 2,000 rounds of a rule bot it halves the log loss of other rounds."""

MASKED: Final = np.float32(-1e9)  # Logit of an illegal action.


class PolicyLearner:
    """The layers of a network, changed by the gradient of a cross-entropy.

    The value's layer stays as it is.

    Args:
        start: whose weights are copied.
        seed: of the units that are left out.
        dropout: share of the units that each step leaves out.
    """

    def __init__(self, start: NetworkAgent, seed: int = 0, dropout: float = DROPOUT) -> None:
        self._rng, self._dropout = np.random.default_rng(seed), dropout
        self._tensors = {name: array.copy() for name, array in start.tensors().items()}
        self._names = [*(f"layers.{layer}" for layer in range(start.info.layers)), "policy"]
        parts = [f"{name}.{part}" for name in self._names for part in ("weight", "bias")]
        shapes = {name: self._tensors[name] for name in parts}
        self._moments = {n: (np.zeros_like(t), np.zeros_like(t)) for n, t in shapes.items()}
        """Adam's averages of a tensor's gradient and of its square (Kingma & Ba 2015)."""
        self._steps = 0

    def tensors(self) -> dict[str, Array]:
        """Returns a copy of the weights, as a network's file names them."""
        return {name: array.copy() for name, array in self._tensors.items()}

    def log_probabilities(self, words: Words, legal: Bool) -> Array:
        """Returns the log-probability of each action: float32 [N, 69]."""
        return _log_softmax(self._forward(words, 0)[-1], legal)

    def gradient(self, words: Words, legal: Bool, targets: Array) -> dict[str, Array]:
        """Returns the gradient of the mean cross-entropy of the policy to targets [N, 69]."""
        outputs = self._forward(words, self._dropout)
        error = np.exp(_log_softmax(outputs[-1], legal))
        error -= targets
        error /= np.float32(len(words))
        found: dict[str, Array] = {}
        for number in range(len(self._names) - 1, -1, -1):
            name, inputs = self._names[number], outputs[number]
            found[f"{name}.weight"] = error.T @ inputs
            found[f"{name}.bias"] = error.sum(axis=0)
            if number:
                error = error @ self._tensors[f"{name}.weight"]
                error *= (inputs > 0) / np.float32(1 - self._dropout)
        return found

    def step(self, words: Words, legal: Bool, targets: Array, rate: float) -> None:
        """Takes one step of Adam down the gradient."""
        self._steps += 1
        fast, slow = 0.9, 0.999
        scale = rate * np.sqrt(1 - slow**self._steps) / (1 - fast**self._steps)
        for name, slope in self.gradient(words, legal, targets).items():
            mean, square = self._moments[name]
            mean += (1 - fast) * (slope - mean)
            square += (1 - slow) * (slope * slope - square)
            change = mean / (np.sqrt(square) + np.float32(1e-8))
            self._tensors[name] -= np.float32(scale) * change

    def _forward(self, words: Words, dropout: float) -> list[Array]:
        """Returns the observations, the outputs of each shared layer, and the logits."""
        outputs: list[Array] = [packing.expand(words).astype(np.float32)]
        for name in self._names:
            weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
            found = outputs[-1] @ weight.T
            found += bias
            if name != "policy":
                np.maximum(found, 0, out=found)
                if dropout:
                    kept = self._rng.random(found.shape, dtype=np.float32) >= dropout
                    found *= kept / np.float32(1 - dropout)
            outputs.append(found)
        return outputs


def _log_softmax(logits: Array, legal: Bool) -> Array:
    masked = np.where(legal, logits, MASKED)
    masked -= masked.max(axis=1, keepdims=True)
    masked -= np.log(np.exp(masked).sum(axis=1, keepdims=True))
    return masked
