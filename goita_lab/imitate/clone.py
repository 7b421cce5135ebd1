"""Clones a player's behaviour: a network is fitted to its actions and stays close to another one.

The loss of a decision is -log model(action) + weight * KL(start || model). ``start`` is the network
that learning begins with, at the temperature with its best predictions of the player. The
divergence is of the start from the model, not of the model from the start, for two reasons. An
action that the start considers impossible adds no loss, since a stranger may play it. And at the
minimum every action has at least weight / (1 + weight) of the start's probability, so actions that
were never observed stay possible. The sum is the cross-entropy to
(observed + weight * start) / (1 + weight), as if each decision had been observed ``weight`` times
more, with the start's answers.

The weight falls step by step, each step from the network of the step before, until predictions of
held-out games no longer improve. Few games therefore give a model close to its start.
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
"""Fewest steps at each weight."""

LEARNING_RATE: Final = 1e-3
"""Learning rate of Adam at the beginning of each weight; it falls to 0."""

PATIENCE: Final = 2
"""Learning ends after so many weights in a row without better predictions."""


@dataclass(frozen=True)
class Tried:
    """How well the network of a weight predicts the games that the weight is chosen on."""

    weight: float  #: infinite: the start, unchanged
    log_likelihood: float  #: nats a decision, at the best temperature
    temperature: float  #: the best temperature
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
    """Learns to predict the actions of ``split.train``; ``split.validation`` chooses the weight.

    Args:
        split: the decisions; ``test`` is not used.
        start: the network to begin with and to stay close to.
        seed: of the order of decisions, and of the units that a step leaves out.
        progress: is called with the finished share of the work.
    """
    # More threads would change results, and would wait for each other busily.
    with threadpool_limits(1, user_api="blas"):
        start_temperature, _ = predict(start, split.train).fit(split.train)
        start = heated(start, start_temperature)
        learner = PolicyLearner(start, seed)
        rng = np.random.default_rng(seed)
        best, trial = _try(learner.tensors(), np.inf, start, split.validation)
        trials, failures = [trial], 0
        for weight in _descend(learner, split.train, rng, progress):
            agent, trial = _try(learner.tensors(), weight, start, split.validation)
            better = trial.log_likelihood > max(earlier.log_likelihood for earlier in trials)
            best, failures = (agent, 0) if better else (best, failures + 1)
            trials.append(trial)
            if failures == PATIENCE:
                break
    progress(1.0)
    chosen = max(trials, key=lambda trial: trial.log_likelihood)
    info = replace(best.info, decisions=len(split.train), rules=split.train.rules)
    tensors = best.tensors()
    for name in ("value.weight", "value.bias"):  # a clone predicts actions, not points
        tensors[name] = np.zeros_like(tensors[name])
    return Clone(
        agent=NetworkAgent(info, tensors),
        weight=chosen.weight,
        start_temperature=start_temperature,
        tried=tuple(trials),
    )


def check_start(agent: object, name: str) -> NetworkAgent:
    """Returns an agent that a clone can begin with; raises an AgentError unless it is a network."""
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
    """Returns a network that plays at temperature 1 as ``network`` does at ``temperature``."""
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
    """Learns at one weight after another, and yields each weight afterwards."""
    prior = np.exp(learner.log_probabilities(examples.words, examples.legal))
    for index, weight in enumerate(WEIGHTS):
        # The distribution of the module's docstring: the start's, and the action observed.
        targets = prior * np.float32(weight / (1 + weight))
        targets[np.arange(len(targets)), examples.action] += np.float32(1 / (1 + weight))
        for share in _learn(learner, examples, targets, rng):
            progress((index + share) / len(WEIGHTS))
        yield weight


def _learn(
    learner: PolicyLearner, examples: Examples, targets: Array, rng: np.random.Generator
) -> Iterator[float]:
    """Learns at one weight; yields the finished share after each pass."""
    steps = -(-len(examples) // BATCH)  # of a pass, rounded up
    passes = max(PASSES, -(-FEWEST_STEPS // steps))
    for index in range(passes):
        order = rng.permutation(len(examples))
        for step, begin in enumerate(range(0, len(order), BATCH)):
            rows = order[begin : begin + BATCH]
            rate = LEARNING_RATE * (1 - (index * steps + step) / (passes * steps))
            learner.step(examples.words[rows], examples.legal[rows], targets[rows], rate)
        yield (index + 1) / passes


def _try(
    tensors: dict[str, Array], weight: float, start: NetworkAgent, validation: Examples
) -> tuple[NetworkAgent, Tried]:
    """Returns the network of a weight at its best temperature, and how well it predicts.

    The network has ``tensors``; ``start`` is what it was held close to.
    """
    network = NetworkAgent(start.info, tensors)
    temperature, _ = predict(network, validation).fit(validation)
    network = heated(network, temperature)
    view, legal = validation.view(), validation.legal
    model, prior = (ask_probabilities(agent.at(1.0), view, legal) for agent in (network, start))
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(prior > 0, prior * np.log(prior / model), 0.0).sum(axis=1)
    return network, Tried(
        weight=weight,
        log_likelihood=float(np.log(validation.taken(model)).mean()),
        temperature=temperature,
        accuracy=float((model.argmax(axis=1) == validation.action).mean()),
        divergence=float(divergence.mean()),
    )


BATCH: Final = 256

DROPOUT: Final = 0.2
"""Share of the shared layers' units that a step of learning leaves out (Srivastava et al. 2014).
On 2,000 rounds of a rule bot it halves the log loss of other rounds."""

ILLEGAL_LOGIT: Final = np.float32(-1e9)  #: Logit of an illegal action.


class PolicyLearner:
    """The layers of a network, fitted by gradients of a cross-entropy.

    The layer of the value is not changed.

    Args:
        start: the network whose weights are copied.
        seed: of the units that are left out.
        dropout: share of the units that each step leaves out.
    """

    def __init__(self, start: NetworkAgent, seed: int = 0, dropout: float = DROPOUT) -> None:
        self._rng, self._dropout = np.random.default_rng(seed), dropout
        self._tensors = {name: array.copy() for name, array in start.tensors().items()}
        self._names = [*(f"layers.{layer}" for layer in range(start.info.layers)), "policy"]
        learned = [f"{name}.{part}" for name in self._names for part in ("weight", "bias")]
        self._moments = {
            name: (np.zeros_like(self._tensors[name]), np.zeros_like(self._tensors[name]))
            for name in learned
        }
        """Adam's averages of a tensor's gradient and of its square (Kingma & Ba 2015)."""
        self._steps = 0

    def tensors(self) -> dict[str, Array]:
        """Returns a copy of the weights, by their names in a network's file."""
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
        slopes: dict[str, Array] = {}
        # Backwards through the layers: a layer's inputs are the outputs of the layer before it.
        for layer in range(len(self._names) - 1, -1, -1):
            name, inputs = self._names[layer], outputs[layer]
            slopes[f"{name}.weight"] = error.T @ inputs
            slopes[f"{name}.bias"] = error.sum(axis=0)
            if layer:
                error = error @ self._tensors[f"{name}.weight"]
                # Units with output 0 were negative or left out, and have no gradient.
                error *= (inputs > 0) / np.float32(1 - self._dropout)
        return slopes

    def step(self, words: Words, legal: Bool, targets: Array, rate: float) -> None:
        """Takes one step of Adam down the gradient."""
        self._steps += 1
        fast, slow = 0.9, 0.999  # how slowly the averages of the gradient and its square follow
        # Averages that begin at 0 are too small at first; this corrects them.
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
            output = outputs[-1] @ weight.T
            output += bias
            if name != "policy":
                np.maximum(output, 0, out=output)
                if dropout:
                    # Units that stay are scaled up, so that the expected output is the same.
                    stays = self._rng.random(output.shape, dtype=np.float32) >= dropout
                    output *= stays / np.float32(1 - dropout)
            outputs.append(output)
        return outputs


def _log_softmax(logits: Array, legal: Bool) -> Array:
    masked = np.where(legal, logits, ILLEGAL_LOGIT)
    masked -= masked.max(axis=1, keepdims=True)
    masked -= np.log(np.exp(masked).sum(axis=1, keepdims=True))
    return masked
