"""The checks for agents of one's own: good ones pass, and no others do."""

import re

import numpy as np
import pytest

from goita_env import JGA, NINE, PAGAT, Rules, testing
from goita_env.actions import CALL, REDEAL
from goita_env.errors import SettingError
from inconsistent_agents import BAD, ByGame, Honest


class Uniform:
    """Plays any legal action, and says so."""

    def act(self, view, legal, rng):
        return (rng.random(legal.shape) * legal).argmax(axis=1)

    def probabilities(self, view, legal):
        return legal / legal.sum(axis=1, keepdims=True)


def faulty(name, **methods):
    """A ``Uniform`` with a fault in what it answers."""
    return type(name, (Uniform,), methods)()


def act(view, legal, rng):
    return Uniform().act(view, legal, rng)


def even(view, legal):
    return Uniform().probabilities(view, legal)


FAULTY = {
    faulty("Passing", act=lambda _, view, legal, rng: np.zeros(len(legal), int)): "one of ",
    faulty("Short", act=lambda _, *args: act(*args)[1:]): "16 actions as whole numbers",
    faulty("Halved", act=lambda _, *args: act(*args) / 2): "16 actions as whole numbers",
    faulty("Outside", act=lambda _, view, legal, rng: np.full(len(legal), 69)): "actions 0..68",
    faulty(
        "Boastful", probabilities=lambda _, view, legal: 1 / 69 + 0 * legal
    ): "probability 0 for illegal actions",
    faulty("Doubtful", probabilities=lambda _, *args: even(*args) / 2): "probabilities that sum to",
    faulty(
        "Flat", probabilities=lambda _, *args: even(*args)[0]
    ): "probabilities of shape (16, 69)",
}


class Unmasked(Uniform):
    """Passes where the rules allow it, whatever the mask says."""

    def act(self, view, legal, rng):
        chosen = super().act(view, legal, rng)
        chosen[view.legal()[:, 0]] = 0
        return chosen

    probabilities = None


class Forgetful(Unmasked):
    """One with a memory."""

    def begin(self, games, seats, view): ...

    def end(self, games, results, hands): ...


@pytest.mark.parametrize("kind", [Unmasked, Forgetful])
def test_who_plays_what_a_narrowed_mask_forbids_is_told_where(kind):
    place = "view \\d+" if kind is Unmasked else "game \\d+, seat [0-3]"
    with pytest.raises(AssertionError) as error:
        testing.check_agent(kind(), num_games=16, steps=40)
    assert re.match(
        rf"expected one of [1-8]{{2}}( \d\d)*, got 'p' \(0\) in {place} \(a mask",
        str(error.value),
    )


class Moody(Uniform):
    """Draws random numbers of its own."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def act(self, view, legal, rng):
        return super().act(view, legal, self.rng)


class Diary(Uniform):
    """Calls, chooses to be dealt again, and remembers by its games what it was told of them."""

    def __init__(self):
        self.hands, self.scored, self.redealt = {}, 0, 0

    def begin(self, games, seats, view):
        assert (games % 4 == seats).all()
        assert (view.game == games).all()
        assert not view.num_plays.any()
        assert not self.hands.keys() & set(games.tolist())
        self.hands |= dict(zip(games.tolist(), view.hand.tolist(), strict=True))

    def act(self, view, legal, rng):
        assert (legal.sum(axis=1) > 1).all()
        for game, hand, down, up in zip(
            view.game.tolist(), view.hand, view.own_face_down, view.face_up[:, 0], strict=True
        ):
            assert (hand + down + up).tolist() == self.hands[game]
        chosen = super().act(view, legal, rng)
        chosen[legal[:, CALL]], chosen[legal[:, REDEAL]] = CALL, REDEAL
        return chosen

    def end(self, games, results, hands):
        for game, dealt in zip(games.tolist(), hands.tolist(), strict=True):
            assert self.hands.pop(game) == dealt[game % 4]
        assert (results.points > 0).all()
        self.scored += len(games)

    def redeal(self, games, view):
        for game in games.tolist():
            self.hands.pop(game)
        self.redealt += len(games)


class Wild(Diary):
    """Answers what is no action, in spite of its memory."""

    def act(self, view, legal, rng):
        return np.full(len(legal), 69)


def test_an_agent_with_a_memory_is_told_of_deals_and_of_their_ends():
    agent = Diary()
    assert testing.check_agent(agent, num_games=32, steps=150) is None
    assert agent.scored > 32 * 4
    assert agent.redealt > 4
    assert len(agent.hands) == 32 * 4


@pytest.mark.parametrize(
    ("agent", "expected"),
    [*FAULTY.items(), (Wild(), "actions 0..68"), (Moody(), "the same actions")],
    ids=lambda value: type(value).__name__ if isinstance(value, Uniform) else "",
)
def test_what_is_wrong_with_an_agent_is_said(agent, expected):
    with pytest.raises(AssertionError) as error:
        testing.check_agent(agent, num_games=16, steps=40)
    assert f"expected {expected}" in str(error.value)


@pytest.mark.parametrize("kind", BAD, ids=lambda kind: kind.__name__)
def test_an_agent_that_depends_on_more_than_its_view_does_not_pass(kind):
    agent = kind()
    with pytest.raises(AssertionError):
        testing.check_agent(agent, num_games=4, steps=20)
    assert re.search(re.escape(BAD[kind]), testing.find_inconsistency(kind()))


@pytest.mark.parametrize("rules", [JGA, PAGAT, NINE, Rules(name="mine", last_king=False)])
def test_an_honest_agent_is_consistent_in_all_rule_sets(rules):
    assert testing.find_inconsistency(Honest(), rules) is None
    assert "other numbers" in testing.find_inconsistency(ByGame(), rules)


@pytest.mark.parametrize(("difference", "passes"), [(5e-5, True), (2e-4, False)])
def test_probabilities_of_a_view_may_differ_by_a_ten_thousandth(difference, passes):
    class Rough(Honest):
        def probabilities(self, view, legal):
            likely, rows = self.likely(view, legal), np.arange(len(view))
            likely[rows, legal.argmax(axis=1)] -= difference * (len(view) == 1)
            likely[rows, 68 - legal[:, ::-1].argmax(axis=1)] += difference * (len(view) == 1)
            return likely

    assert (testing.find_inconsistency(Rough()) is None) == passes


def test_what_an_agent_draws_is_not_held_against_it():
    assert testing.find_inconsistency(Uniform()) is None
    assert testing.check_agent(Uniform(), num_games=16, steps=40) is None


@pytest.mark.parametrize("nothing", [{"steps": 0}, {"num_games": 0}])
@pytest.mark.parametrize("agent", [Uniform(), Diary()])
def test_a_check_of_no_decision_is_refused(agent, nothing):
    with pytest.raises(SettingError, match="from 1 on, got 0"):
        testing.check_agent(agent, **nothing)


class WithoutNumbers(Uniform):
    def act(self, view, legal):
        return legal.argmax(axis=1)


class KnowsTheGameAlone(Diary):
    def begin(self, games):
        pass


class Ragged(Uniform):
    def act(self, view, legal, rng):
        return [[1], [1, 2]]


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (Uniform, "an instance of its class, got <class"),
        (None, r"with act\(\), got None"),
        (WithoutNumbers(), r"act\(view, legal, rng\), got .*too many"),
        (KnowsTheGameAlone(), r"begin\(games, seats, view\), got .*too many"),
        (Ragged(), "64 actions as whole numbers, got rows of different lengths"),
    ],
)
def test_what_is_no_agent_is_an_assertion_error_too(agent, expected):
    with pytest.raises(AssertionError, match=f"expected .*{expected}"):
        testing.check_agent(agent)


def test_the_fixed_views_are_of_all_phases_and_the_same_every_time():
    view, legal = testing.fixed_views(JGA)
    assert len(view) == 256 == len(view.unique()[0])
    assert (legal.sum(axis=1) > 1).all()
    assert (legal == view.legal()).all()
    assert (np.bincount(view.num_plays, minlength=11)[:11] >= 4).all()
    assert testing.fixed_views.__wrapped__(JGA)[0].words.tobytes() == view.words.tobytes()
