"""Games with shown tiles and messages: against the oracle, against each other, saved and copied."""

import copy
import pickle

import numpy as np
import pytest

from deals import RULE_SETS, special_hands, tiles_of
from goita_env import (
    Game,
    GoitaVectorEnv,
    InformationStructure,
    MessageChannel,
    SeatVectorEnv,
    goita_v0,
    views,
)
from goita_env.agent import RandomAgent
from goita_env.errors import ObservationError, SettingError
from goita_env.rounds import Rounds
from goita_env.views import seat_view
from goita_env.views.observation import SLICES
from informed_oracle import OPTIONS, InformedReferee, some_options
from raising import refuses
from samples import rotating, slow

COSTLY = InformationStructure(channel=MessageChannel(1, cost=10))
WHISPER = InformationStructure("partner", MessageChannel(2))
HANDS = ["11235578", "11112333", "11444567", "11224569"]


def tiles(counts: np.ndarray) -> list[int]:
    return np.repeat(np.arange(8), counts).tolist()


def check_view(judge: InformedReferee, view: views.View, viewer: int) -> None:
    """Compares what a seat is told beyond the base game."""
    assert view.messages[0].tolist() == judge.heard(viewer)
    assert view.asked_message[0] == (judge.phase == "message" and judge.seat == viewer)
    shown = judge.shown_to(viewer)
    assert view.information.shown_seats == tuple(shown)
    for place in range(1, 4):
        if place not in shown:
            assert (view.hands[0, place] == views.NONE).all()
            assert np.array_equal(view.known_blocks[0, place], view.blocks[0, place])
            continue
        hand, plays = shown[place]
        assert tiles(view.hands[0, place]) == hand
        blocks = [block for block, _ in plays]
        assert view.known_blocks[0, place].tolist() == blocks + [views.NONE] * (4 - len(plays))
    assert np.array_equal(view.hands[0, 0], view.hand[0])


@pytest.mark.parametrize(("options", "rules"), rotating(OPTIONS, RULE_SETS), ids=str)
@pytest.mark.parametrize("steps", [50, slow(150)])
def test_the_environment_and_the_oracle_agree(rules, options, steps):
    games, rng = 6, np.random.default_rng(len(str(options)))
    env = GoitaVectorEnv(games, rules, information=options)
    turn = env.reset(hands=special_hands(rng, games))
    judges = [None] * games
    for step in range(steps):
        state = env._match.state
        for game in range(games):
            if judges[game] is None or judges[game].seat is None:
                hands, dealer = tiles_of(state.hand_counts()[game]), int(state.dealer[game])
                if judges[game] is None:
                    judges[game] = InformedReferee(rules, hands, dealer, information=options)
                else:
                    judges[game].deal(hands)
            judge = judges[game]
            assert judge.seat == turn.seat[game]
            assert np.flatnonzero(turn.action_mask[game]).tolist() == judge.legal_actions()
            viewer = (step + game) % 4
            one = state.select(np.array([game]))
            check_view(judge, seat_view(one, viewer), viewer)
        chosen = env.sample_legal(rng)
        turn = env.step(chosen)
        for game, action in enumerate(chosen.tolist()):
            judge = judges[game]
            before = list(judge.paid)
            judge.play(action)
            gains = [after - earlier for after, earlier in zip(judge.paid, before, strict=True)]
            if judge.phase == "over":
                sign = 1 - 2 * (judge.winner % 2)
                gains = [judge.points * sign * (1 - 2 * (seat % 2)) for seat in range(4)]
                judges[game] = None
            assert turn.reward[game].tolist() == gains
            assert turn.done[game] == (judge.phase == "over")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_first_512_bits_are_those_of_the_plain_game(options):
    rng = np.random.default_rng(2)
    plain = GoitaVectorEnv(64, "pagat", "round")
    informed = GoitaVectorEnv(64, "pagat", "round", information=options)
    hands, dealer = special_hands(rng, 64), rng.integers(0, 4, 64)
    one, other = plain.reset(hands=hands, dealer=dealer), informed.reset(hands=hands, dealer=dealer)
    live = np.ones(64, bool)
    for step in range(40):
        if options.channel is not None and step < 4:
            other = informed.step(informed.sample_legal(rng))
            continue
        live &= ~one.action_mask[:, 67]  # after a redeal there are messages again
        assert np.array_equal(one.seat[live], other.seat[live])
        assert np.array_equal(one.view.words[live], other.view.plain().words[live])
        assert np.array_equal(one.action_mask[live], other.action_mask[live, :69])
        bits = np.concatenate([np.arange(s.start, s.stop) for s in SLICES])
        assert np.array_equal(one.observation[live][:, bits], other.observation[live][:, bits])
        chosen = plain.sample_legal(rng)
        both = np.where(live, chosen, informed.sample_legal(rng))
        one, other = plain.step(chosen), informed.step(both)
        assert np.array_equal(one.points[live], other.points[live])
        live &= ~one.done
    assert not live.all()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_view_and_its_observation_carry_the_same_information(options):
    env, rng = GoitaVectorEnv(50, information=options, seed=1), np.random.default_rng(3)
    turn = env.reset()
    for _ in range(30):
        back = views.from_observation(turn.observation, rules="jga", information=options)
        assert np.array_equal(back.words, turn.view.words)
        assert np.array_equal(back.legal(), turn.action_mask)
        assert turn.observation.shape == (50, options.observation_size)
        assert env.observation_space.contains(turn.observation)
        turn = env.step(env.sample_legal(rng))
    wrong = np.zeros((1, options.observation_size))
    wrong[0, 511] = 1
    refuses(ObservationError, "between", views.from_observation, wrong, information=options)
    if options != InformationStructure(channel=options.channel):
        refuses(ObservationError, r"\[N, 512\]", views.from_observation, turn.observation)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_game_and_a_batch_play_alike(options):
    rng = np.random.default_rng(4)
    batch, single = GoitaVectorEnv(3, information=options), goita_v0.raw_env(information=options)
    turn, _ = batch.reset(seed=9), single.reset(seed=9)
    game = Game(seed=9, information=options)
    for _ in range(60):
        agent = single.agent_selection
        seen = single.observe(agent)
        assert np.array_equal(seen["observation"], turn.observation[0])
        assert np.array_equal(seen["action_mask"], turn.action_mask[0])
        assert single.observation_space(agent).contains(seen)
        assert np.array_equal(single.state(), batch.state()[0])
        assert batch.state_space.contains(batch.state()[0])
        assert game.legal_actions() == np.flatnonzero(turn.action_mask[0]).tolist()
        assert np.array_equal(game.view(game.seat).observation(), turn.observation[:1])
        chosen = batch.sample_legal(rng)
        turn = batch.step(chosen)
        single.step(int(chosen[0]))
        game.play(int(chosen[0]))
        assert list(single.rewards.values()) == turn.reward[0].tolist()
        if turn.done[0]:
            break
    assert game.done


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_games_are_saved_pickled_and_copied_and_continue_identically(options):
    env, rng = GoitaVectorEnv(40, information=options, seed=5), np.random.default_rng(5)
    env.reset()
    for moves in (2, 45):
        for _ in range(moves):
            env.step(env.sample_legal(rng))
        fresh = GoitaVectorEnv(40, information=options)
        fresh.reset()
        fresh.restore(env.save())
        others = [fresh, pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
        for _ in range(12):
            chosen = env.sample_legal(rng)
            turn = env.step(chosen)
            for other in others:
                same = other.step(chosen)
                assert np.array_equal(same.observation, turn.observation)
                assert np.array_equal(same.reward, turn.reward)


@pytest.mark.parametrize("seed", range(4))
def test_rounds_sum_what_messages_cost_and_scores_do_not_hold_it(seed):
    rng = np.random.default_rng(seed)
    options = InformationStructure(
        some_options(rng).shown, MessageChannel(2, cost=int(rng.integers(1, 60)))
    )
    rounds = Rounds(200, seed=seed, information=options, log=True)
    paid, ended, agent = np.zeros(200, int), 0, RandomAgent()
    while not rounds.over:
        asked = rounds.decisions
        chosen = agent.act(asked.view, asked.legal, rng) if len(asked.rows) else np.zeros(0, int)
        decisions = rounds.step(chosen)
        made = decisions.made
        sent = made.actions > 69
        np.add.at(paid, made.rows[sent], options.cost * (1 - 2 * (made.seats[sent] & 1)))
        if (over := decisions.ended) is not None:
            assert over.cost.tolist() == paid[over.rows].tolist()
            assert (over.points % 10 == 0).all()
            ended += len(over.rows)
    assert ended == 200
    assert np.count_nonzero(paid) > 50
    assert rounds.information == options


class Speaker(RandomAgent):
    """Says always the same, and plays at random."""

    def __init__(self, message: int) -> None:
        super().__init__()
        self.message = 69 + message

    def probabilities(self, view: views.View, legal: np.ndarray) -> np.ndarray:
        chances = super().probabilities(view, legal)
        asked = legal[:, 69]
        chances[asked] = np.eye(77)[self.message]
        return chances


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize(
    ("own", "others", "reward"), [(1, 1, 0), (1, 0, -20), (0, 1, 10), (0, 0, -10)]
)
def test_a_learner_pays_and_is_paid_for_messages(own, others, reward, dealer):
    """Its partner always speaks; all four are asked before anything is played."""
    env = SeatVectorEnv(
        8, seat=3, information=COSTLY, partner=Speaker(1), opponents=Speaker(others)
    )
    env.reset(seed=1, options={"hands": HANDS, "dealer": dealer})
    _, got, done, *_ = env.step(np.full(8, 69 + own))
    assert not done.any()
    assert (got == reward).all()


class Deaf:
    """Plays the base game alone."""

    name = "deaf"

    def act(self, view: views.View, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return legal.argmax(axis=1)


def test_bots_that_do_not_play_the_game_are_refused_and_their_wrappers_are_not():
    words = "expected bots that play a game with InformationStructure.*plain:base=AGENT"
    for bots in ({"opponents": "greedy"}, {"partner": Deaf(), "opponents": "random"}):
        refuses(SettingError, words, SeatVectorEnv, 4, information=WHISPER, **bots)
    env = SeatVectorEnv(4, information=WHISPER, opponents="plain:base=greedy")
    refuses(SettingError, words, env._games.bots.set, None, "greedy")
    _, told = env.reset(seed=1)
    assert told["action_mask"].shape == (4, 77)
    SeatVectorEnv(4, opponents=Deaf())


def test_costs_belong_to_rounds_and_points_alone():
    for make in (GoitaVectorEnv, Rounds, SeatVectorEnv):
        refuses(SettingError, "episode='round'", make, 2, episode="match", information=COSTLY)
    for make in (goita_v0.env, goita_v0.raw_env, goita_v0.parallel_env):
        refuses(SettingError, "episode='round'", make, episode="match", information=COSTLY)
        refuses(SettingError, "reward='points'", make, reward="win", information=COSTLY)
    refuses(SettingError, "episode='round'", Game, episode="match", information=COSTLY)
    for make in (GoitaVectorEnv, SeatVectorEnv):
        refuses(SettingError, "reward='points'", make, 2, reward="win", information=COSTLY)
    free = InformationStructure(channel=MessageChannel(1))
    assert GoitaVectorEnv(2, episode="match", reward="win", information=free)
    for make in (GoitaVectorEnv, Rounds, SeatVectorEnv):
        refuses(SettingError, "an InformationStructure value", make, 2, information="partner")
