"""One learner among bots, many games at once: rewards, skipped deals, modes, seeds, seats, bots."""

import copy
import pickle
from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from deals import RULE_SETS, complete
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from playing import habits, pick

from goita_env import Game, SeatVectorEnv
from goita_env.actions import CALL
from goita_env.errors import (
    ActionError,
    EpisodeOverError,
    HandsError,
    IllegalActionError,
    SettingError,
)
from goita_env.rounds import Rounds
from goita_env.views import from_observation

MODES = list(AutoresetMode)


class Habits:
    """Plays by its view alone."""

    def act(self, view, legal, rng):
        return habits(view, legal)


class Drawing:
    """Plays every legal action, the later the more often: a policy of known probabilities."""

    def act(self, view, legal, rng):
        raise AssertionError("expected to be asked for probabilities")

    def probabilities(self, view, legal):
        weights = legal * np.arange(1.0, 70)
        return weights / weights.sum(axis=1, keepdims=True)


class Loose:
    """Plays by the generator that it is handed."""

    def act(self, view, legal, rng):
        return pick(legal, rng.integers(1 << 30, size=len(legal)))


def same(one, other):
    """Tells whether two results of reset or step are equal to the last bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return all(same(*pair) for pair in zip(one, other, strict=True))
    return np.asarray(one).dtype == np.asarray(other).dtype and np.array_equal(one, other)


def decide(env, observation, rules="jga"):
    """Returns the learner's actions by habit: int [N]."""
    return habits(from_observation(observation, rules=rules), env.action_masks())


def told(env, steps, act=None):
    """Plays and yields result after result, that of the reset first."""
    observation, info = env.reset(seed=4)
    yield observation, info
    for number in range(steps):
        actions = decide(env, observation) if act is None else act(number)
        result = env.step(actions)
        observation = result[0]
        yield result


# ------------------------------------------------------------------------- rewards, skipped deals


def plain(rules, episode, games, episodes):
    """Plays by habit in all seats, without a learner.

    Returns:
        Of each game, episode after episode: (points of seats 0 and 2, winner of the last round).
    """
    rounds = Rounds(games, rules=rules, episode=episode, seed=4, auto_reset=True)
    found, points = [[] for _ in range(games)], np.zeros(games, int)
    while min(map(len, found)) < episodes:
        tick = rounds.tick
        tick = rounds.step(habits(tick.view, tick.legal) if len(tick.rows) else [])
        if tick.ended is not None:
            ended = tick.ended
            points[ended.rows] += ended.points * (1 - 2 * (ended.winner & 1))
            for row, winner in zip(
                ended.rows[ended.done].tolist(), ended.winner[ended.done].tolist(), strict=True
            ):
                found[row].append((int(points[row]), winner))
                points[row] = 0
    return found


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize(("episode", "seat"), [("round", 1), ("round", "team"), ("match", 2)])
def test_rewards_and_skipped_points_are_what_the_team_gets_in_plain_play(rules, episode, seat):
    games, episodes = 40, 8 if episode == "round" else 2
    expected = plain(rules, episode, games, episodes)
    partner = None if seat == "team" else Habits()
    env = SeatVectorEnv(
        games, rules=rules, episode=episode, seat=seat, partner=partner, opponents=Habits()
    )
    observation, info = env.reset(seed=4)
    found, skipped, gained = [[] for _ in range(games)], np.zeros(games, int), np.zeros(games)
    gaps = 0
    while min(map(len, found)) < episodes:
        for game in np.flatnonzero(info["skipped"]).tolist():
            gaps += 1
            many, points = int(info["skipped"][game]), int(info["skipped_points"][game])
            start = len(found[game])
            missed = expected[game][start : start + many]
            sign = 1 - 2 * (seat & 1) if seat != "team" else None
            if len(missed) == many and sign is not None:
                assert sum(sign * one for one, _ in missed) == points
            found[game] += [None] * many
        skipped += info["skipped"]
        observation, reward, done, truncated, info = env.step(decide(env, observation, rules))
        assert not truncated.any()
        gained += reward
        for game in np.flatnonzero(done).tolist():
            last = info["final_info"]
            side = int(last["seat"][game]) & 1
            if len(found[game]) < len(expected[game]):
                points, winner = expected[game][len(found[game])]
                assert gained[game] == (points if side == 0 else -points)
                assert last["winner"][game] == winner
            assert reward[game] == last["rewards"][game, side]
            assert (
                last["rewards"][game]
                == reward[game] * np.array([1, -1, 1, -1])[(np.arange(4) + side) % 4]
            ).all()
            found[game].append(float(gained[game]))
            gained[game] = 0
    assert gaps > 3 or seat != 1  # hardly any where a team sits, or a match is played
    assert sum(one is None for row in found for one in row) == skipped.sum()


class Caller:
    """Calls where it may."""

    def act(self, view, legal, rng):
        return np.where(legal[:, CALL], CALL, habits(view, legal))


def test_a_deal_that_ends_before_the_learner_decides_is_told_and_not_paid():
    hands = complete("", "11111112", "", "")
    env = SeatVectorEnv(3, seat=0, partner=Caller(), opponents=Caller())
    _, info = env.reset(seed=0, options={"hands": hands, "dealer": 1})
    game = Game(hands=hands, dealer=1)
    game.play(CALL)
    assert game.done
    assert game.points > 0
    assert info["skipped"].tolist() == [1, 1, 1]
    assert info["skipped_points"].tolist() == [-game.points] * 3
    _, _, _, _, info = env.step(env.sample_legal(np.random.default_rng(0)))
    assert (info["skipped_points"][info["skipped"] == 0] == 0).all()
    match = SeatVectorEnv(3, seat=0, partner=Caller(), opponents=Caller(), episode="match")
    _, info = match.reset(seed=0, options={"hands": hands, "dealer": 1})
    assert info["skipped"].tolist() == [0, 0, 0]
    _, reward, done, _, _ = match.step(match.sample_legal(np.random.default_rng(0)))
    on = np.abs(reward + game.points) < 1
    assert on.any()  # the others' next round ended in the same step
    assert not done[on].any()


def test_reward_win_is_plus_and_minus_one_at_the_end():
    for episode in ("round", "match"):
        points, wins = (
            [*told(SeatVectorEnv(20, seat=1, episode=episode, reward=reward), 40)]
            for reward in ("points", "win")
        )
        ends = 0
        for (_, gain, done, _, info), (_, won, also, _, _) in zip(
            points[1:], wins[1:], strict=True
        ):
            assert np.array_equal(done, also)
            assert np.array_equal(np.abs(won), done)
            if done.any():
                ends += done.sum()
                side = 1 - 2 * ((info["final_info"]["winner"][done] ^ 1) & 1)
                assert (won[done] == side).all()
                assert episode == "match" or (np.sign(gain[done]) == side).all()
        assert ends > 10


# ------------------------------------------------------------------------------------- the modes


def path(mode):
    """Plays by habit; returns of each game (observation, mask, reward, done) of every decision.

    The end of an episode is one more entry, what begins after it the next.
    """
    env = SeatVectorEnv(30, autoreset_mode=mode, opponents=Drawing(), partner=Habits())
    observation, info = env.reset(seed=4)
    found = [[(row.tobytes(), 0.0, False)] for row in observation]
    over = np.zeros(30, bool)
    for _ in range(60):
        if mode == AutoresetMode.DISABLED and over.any():
            observation, info = env.reset(options={"reset_mask": over})
            for game in np.flatnonzero(over).tolist():
                found[game].append((observation[game].tobytes(), 0.0, False))
        before = over
        observation, reward, done, _, info = env.step(decide(env, observation))
        for game in range(30):
            if mode == AutoresetMode.SAME_STEP and done[game]:
                found[game].append((info["final_obs"][game].tobytes(), float(reward[game]), True))
                found[game].append((observation[game].tobytes(), 0.0, False))
                assert info["final_info"]["action_mask"][game].all()
            else:
                entry = observation[game].tobytes(), float(reward[game]), bool(done[game])
                found[game].append(entry)
                assert mode != AutoresetMode.NEXT_STEP or not (before[game] and reward[game])
                assert not done[game] or info["action_mask"][game].all()
        over = done
    return found


def test_the_three_autoreset_modes_play_the_same_games():
    paths = [path(mode) for mode in MODES]
    for rows in zip(*paths, strict=True):
        shortest = min(map(len, rows))
        assert shortest > 50
        assert rows[0][:shortest] == rows[1][:shortest] == rows[2][:shortest]
        assert sum(done for _, _, done in rows[0][:shortest]) > 3


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_is_an_attribute_and_in_the_metadata(mode):
    for given in (mode, mode.value):
        env = gymnasium.make_vec("goita/Seat-v0", num_envs=2, autoreset_mode=given)
        assert env.autoreset_mode is env.metadata["autoreset_mode"] is mode
    assert SeatVectorEnv().autoreset_mode is AutoresetMode.SAME_STEP
    assert "autoreset_mode" not in SeatVectorEnv.metadata


def test_without_autoreset_a_step_after_the_end_is_refused_and_a_mask_resets_some():
    env = SeatVectorEnv(8, autoreset_mode="Disabled")
    results = told(env, 50, lambda _: env.sample_legal(np.random.default_rng(0)))
    observation, *_, info = next(result for result in results if result[2:] and result[2].any())
    done = ~np.array([row.any() for row in (info["points"] == 0)[:, None]])
    with pytest.raises(EpisodeOverError, match="reset_mask"):
        env.step(np.zeros(8, int))
    options = {"reset_mask": done}
    after, info = env.reset(options=options)
    assert options.keys() == {"reset_mask"}
    assert np.array_equal(after[~done], observation[~done])
    assert not (after[done] == observation[done]).all(axis=1).any()
    assert info["_action_mask"].all()
    assert (info["action_mask"] == env.action_masks()).all()
    for wrong in (np.ones(7, bool), np.ones(8, int), np.zeros(8, bool)):
        with pytest.raises(SettingError, match="reset_mask"):
            env.reset(options={"reset_mask": wrong})
    with pytest.raises(SettingError, match="no seed"):
        env.reset(seed=1, options={"reset_mask": done})


def test_a_mask_also_begins_games_anew_that_are_under_way():
    env = SeatVectorEnv(6, autoreset_mode="Disabled", seat=0)
    env.reset(seed=3)
    hands = complete("22334455", "", "", "")
    mask = np.arange(6) % 2 == 0
    observation, _ = env.reset(options={"reset_mask": mask, "hands": hands, "dealer": 0})
    view = from_observation(observation)
    assert [row.tolist() for row in view.hand[mask]] == [[0, 2, 2, 2, 2, 0, 0, 0]] * 3
    assert (view.dealer[mask] == 0).all()
    for _ in range(40):
        _, _, done, _, _ = env.step(env.sample_legal(np.random.default_rng(1)))
        if done.any():
            env.reset(options={"reset_mask": done})


@pytest.mark.parametrize("mode", MODES)
def test_gymnasiums_own_statistics_of_episodes_are_right(mode):
    env = SeatVectorEnv(16, autoreset_mode=mode, episode="match")
    if mode == AutoresetMode.SAME_STEP and gymnasium.__version__.startswith("1.2."):
        pytest.skip("gymnasium 1.2 counts one step too few in this mode")
    env = RecordEpisodeStatistics(env)
    observation, _ = env.reset(seed=0)
    gained, length = np.zeros(16), np.zeros(16, int)
    over, ends = np.zeros(16, bool), 0
    for _ in range(150):
        if mode == AutoresetMode.DISABLED and over.any():
            observation, _ = env.reset(options={"reset_mask": over})
        observation, reward, done, _, info = env.step(decide(env.unwrapped, observation))
        stepped = ~over if mode == AutoresetMode.NEXT_STEP else np.ones(16, bool)
        gained, length, over = gained + reward * stepped, length + stepped, done
        if done.any():
            ends += done.sum()
            assert np.allclose(info["episode"]["r"][done], gained[done])
            assert (info["episode"]["l"][done] == length[done]).all()
            gained[done], length[done] = 0, 0
    assert ends > 10


# ----------------------------------------------------------------------------------- seeds, bots


@pytest.mark.parametrize("seat", [None, "team"])
def test_game_i_is_the_same_in_a_batch_of_any_size(seat):
    partner = None if seat == "team" else Drawing()
    for opponents in ("random", (Drawing(), "random")):
        make = {"seat": seat, "partner": partner, "opponents": opponents}
        whole = [*told(SeatVectorEnv(9, **make), 40)]
        part = [*told(SeatVectorEnv(4, **make), 40)]
        for (*many, info), (*few, infos) in zip(whole, part, strict=True):
            for key in ("action_mask", "seat", "skipped", "skipped_points"):
                assert np.array_equal(info[key][:4], infos[key])
            for one, other in zip(many, few, strict=True):
                assert np.array_equal(one[:4], other)


@pytest.mark.parametrize("bot", ["random", Loose(), Drawing()])
def test_a_seed_gives_the_same_games_to_the_last_bit(bot):
    env = SeatVectorEnv(7, partner=bot, opponents=bot)
    one = [*told(env, 30)]
    assert same(tuple(one), tuple(told(env, 30)))
    assert same(tuple(one), tuple(told(SeatVectorEnv(7, partner=bot, opponents=bot), 30)))
    env.reset(seed=5)
    assert not same(one[0][0], env.reset(seed=5)[0])


def test_a_reset_without_a_seed_goes_on_to_the_next_episode():
    env = SeatVectorEnv(5)
    first, second = env.reset(seed=2)[0], env.reset()[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(env.reset(seed=2)[0], first)
    assert np.array_equal(env.reset()[0], second)
    assert not np.array_equal(SeatVectorEnv(5).reset()[0], SeatVectorEnv(5).reset()[0])


def test_seats_are_drawn_alike_and_teams_too():
    env = SeatVectorEnv(4000)
    _, info = env.reset(seed=1)
    shares = np.bincount(info["seat"], minlength=4) / 4000
    assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)).all()
    for seat in range(4):
        _, info = SeatVectorEnv(20, seat=seat).reset(seed=1)
        assert (info["seat"] == seat).all()


def test_a_team_is_asked_in_both_seats():
    env, seats = SeatVectorEnv(50, seat="team"), [set() for _ in range(50)]
    for result in told(env, 40):
        info = result[-1]
        for game, seat in enumerate(info["seat"].tolist()):
            if len(result) == 5 and result[2][game]:
                assert {one & 1 for one in seats[game]} <= {0} or {
                    one & 1 for one in seats[game]
                } <= {1}
                seats[game] = set()
            seats[game].add(seat)
    assert any(len(found) == 2 for found in seats)


@pytest.mark.parametrize("how", [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy])
@pytest.mark.parametrize("mode", MODES)
def test_a_pickled_or_copied_environment_goes_on_identically(mode, how):
    env = SeatVectorEnv(12, partner=Drawing(), opponents=Loose(), autoreset_mode=mode)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for number in range(30):
        result = env.step(env.sample_legal(rng))
        if mode == AutoresetMode.DISABLED and result[2].any():
            env.reset(options={"reset_mask": result[2]})
        if number % 10 == 9:
            twin, numbers = how(env), copy.deepcopy(rng)
            assert same(twin.step(twin.sample_legal(numbers)), env.step(env.sample_legal(rng)))
            env = twin
            if mode == AutoresetMode.DISABLED:
                env.reset()


def test_opponents_change_at_the_next_deal():
    class Counting(Habits):
        def __init__(self):
            self.games = set()

        def act(self, view, legal, rng):
            self.games |= set((view.game // 4).tolist())
            return habits(view, legal)

    old, new = Counting(), Counting()
    env = SeatVectorEnv(30, partner=Habits(), opponents=old, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=0)
    env.set_opponents(new)
    env.set_opponents(partner=Habits())
    old.games.clear()
    observation, _, done, _, _ = env.step(decide(env, observation))
    assert old.games
    assert not new.games
    assert done.any()
    assert not done.all()
    env.reset(options={"reset_mask": done})
    assert new.games
    assert new.games <= set(np.flatnonzero(done).tolist())
    while not done.all():
        env.reset(options={"reset_mask": np.ones(30, bool)})
        done[:] = True
    old.games.clear()
    env.step(env.sample_legal(np.random.default_rng(0)))
    assert not old.games
    env.set_opponents("random")
    assert len(env._table.bots._bots) == 3  # who plays nowhere any more is gone


def test_bots_with_a_memory_are_told_of_deals_and_ends():
    class Remembering(Habits):
        def __init__(self):
            self.open, self.ends = {}, 0

        def begin(self, games, seats, view):
            assert (games % 4 == seats).all()
            assert (view.num_plays == 0).all()
            assert (view.hand.sum(axis=1) == 8).all()
            self.open |= dict(zip(games.tolist(), view.hand.tolist(), strict=True))

        def act(self, view, legal, rng):
            assert set(view.game.tolist()) <= set(self.open)
            return super().act(view, legal, rng)

        def end(self, games, results, hands):
            for game, seat, dealt in zip(games, games % 4, hands, strict=True):
                assert self.open.pop(int(game)) == dealt[seat].tolist()
            assert (results.points > 0).all()
            self.ends += len(games)

    for episode in ("round", "match"):
        bot = Remembering()
        env = SeatVectorEnv(20, partner="random", opponents=bot, episode=episode)
        for _ in told(env, 30):
            assert len(bot.open) == 40
        assert bot.ends > 20


def test_partner_and_each_opponent_sit_where_they_should():
    seen = {}

    class Spy(Habits):
        def __init__(self, name):
            self.name = name

        def act(self, view, legal, rng):
            seen.setdefault(self.name, set()).update((view.game % 4).tolist())
            return habits(view, legal)

    env = SeatVectorEnv(50, seat=1, partner=Spy("partner"), opponents=(Spy("next"), Spy("last")))
    for _ in told(env, 10):
        pass
    assert seen == {"partner": {3}, "next": {2}, "last": {0}}


# ------------------------------------------------------------------------ what goes wrong, is said


def test_an_illegal_action_forfeits_the_episode():
    for reward, loss in (("points", 100), ("win", 1)):
        for mode in MODES:
            env = SeatVectorEnv(40, seat=3, reward=reward, autoreset_mode=mode)
            before, _ = env.reset(seed=0)
            actions = env.sample_legal(np.random.default_rng(0))
            bad = np.arange(40) % 3 == 0
            actions[bad] = (~env.action_masks()[bad]).argmax(axis=1)
            after, gain, done, _, info = env.step(actions)
            assert done[bad].all()
            assert (gain[bad] == -loss).all()
            last, seen = info, after
            if mode == AutoresetMode.SAME_STEP:
                last, seen = info["final_info"], info["final_obs"]
            assert np.array_equal(seen[bad], before[bad])
            assert (last["rewards"][bad] == loss * np.array([1, -1, 1, -1])).all()
            assert (last["winner"][bad] == -1).all()
            assert (last["points"][bad] == 0).all()
            if mode == AutoresetMode.DISABLED:
                env.reset(options={"reset_mask": done})
            env.step(env.sample_legal(np.random.default_rng(0)))


def test_where_illegal_actions_raise_nothing_has_changed():
    env = SeatVectorEnv(5, illegal="raise")
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    actions = env.sample_legal(np.random.default_rng(0))
    wrong = actions.copy()
    wrong[3] = int((~env.action_masks()[3]).argmax())
    with pytest.raises(IllegalActionError, match="in game 3"):
        env.step(wrong)
    assert same(env.step(actions), twin.step(actions))


@pytest.mark.parametrize(
    "actions", [np.zeros(4, int), np.zeros((5, 1), int), np.zeros(5), [0, 0, 0, 0, 69], [-1] * 5]
)
def test_actions_that_are_none_are_refused_and_nothing_has_changed(actions):
    env = SeatVectorEnv(5)
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    with pytest.raises(ActionError, match="expected"):
        env.step(actions)
    legal = env.sample_legal(np.random.default_rng(0))
    assert same(env.step(legal), twin.step(legal))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_envs": 0}, "at least one game"),
        ({"rules": "go"}, "Rules"),
        ({"episode": "day"}, "episode"),
        ({"reward": "money"}, "reward"),
        ({"seat": 4}, "seat"),
        ({"seat": True}, "seat"),
        ({"seat": "north"}, "seat"),
        ({"partner": 7}, "act"),
        ({"opponents": ("random",)}, "pair"),
        ({"seat": "team", "partner": "random"}, "no partner"),
        ({"observation": "picture"}, "observation"),
        ({"keys": ("a", "a")}, "two keys"),
        ({"illegal": "ignore"}, "illegal"),
        ({"autoreset_mode": "Later"}, "autoreset_mode"),
        ({"render_mode": "ansi"}, "no render_mode"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        SeatVectorEnv(**settings)


def test_wrong_options_are_refused_and_nothing_has_changed():
    env = SeatVectorEnv(3)
    with pytest.raises(EpisodeOverError, match="reset"):
        env.step(np.zeros(3, int))
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    with pytest.raises(HandsError):
        env.reset(options={"hands": ["1", "2", "3", "4"]})
    with pytest.raises(SettingError, match="seed"):
        env.reset(seed=-1)
    with pytest.raises(SettingError, match="act"):
        env.set_opponents("random", partner=3)
    with pytest.raises(SettingError, match="no partner"):
        SeatVectorEnv(2, seat="team").set_opponents(partner="random")
    assert same(env.reset(), twin.reset())


def test_a_bot_that_plays_wrongly_is_named_and_a_reset_goes_on():
    class Wrong:
        def __init__(self):
            self.answer = first

        def __repr__(self):
            return "Wrong()"

        def act(self, view, legal, rng):
            return self.answer(legal)

    def first(legal):
        return legal.argmax(axis=1)

    bot = Wrong()
    env = SeatVectorEnv(6, opponents=bot)
    env.reset(seed=0)
    for answer, error, words in (
        (lambda legal: (~legal).argmax(axis=1), IllegalActionError, r"from Wrong\(\)"),
        (lambda legal: np.full(len(legal), 69), IllegalActionError, "69"),
        (lambda legal: np.zeros(len(legal)), ActionError, "whole numbers"),
    ):
        bot.answer = answer
        with pytest.raises(error, match=words):
            env.step(env.sample_legal(np.random.default_rng(0)))
        bot.answer = first
        with pytest.raises(EpisodeOverError, match="bot's error"):
            env.step(np.zeros(6, int))
        env.reset()
        env.step(env.sample_legal(np.random.default_rng(0)))


# --------------------------------------------------------------------------- what is handed out


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["flat", "dict"])
def test_nothing_is_handed_out_twice_and_spaces_hold_it(mode, form):
    env = SeatVectorEnv(6, autoreset_mode=mode, observation=form, keys=("obs", "mask"))

    def arrays(thing):
        for value in thing.values() if isinstance(thing, dict) else thing:
            if isinstance(value, dict | tuple):
                yield from arrays(value)
            elif isinstance(value, np.ndarray):
                yield value

    results, rng = [env.reset(seed=1)], np.random.default_rng(0)
    for _ in range(12):
        results.append(env.step(env.sample_legal(rng)))
        if mode == AutoresetMode.DISABLED and results[-1][2].any():
            results.append(env.reset(options={"reset_mask": results[-1][2]}))
    for result in results:
        assert env.observation_space.contains(result[0])
        if form == "dict":
            assert np.array_equal(result[0]["mask"], result[-1]["action_mask"])
    found = [array for result in results for array in arrays(result)]
    addresses = sorted((one.__array_interface__["data"][0], one.nbytes) for one in found)
    assert all(start + size <= after for (start, size), (after, _) in pairwise(addresses))


def test_the_batch_samples_legal_actions_only():
    env = SeatVectorEnv(200)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = env.sample_legal(rng)
        assert env.action_masks()[np.arange(200), actions].all()
        assert env.action_space.contains(actions)
        env.step(actions)
