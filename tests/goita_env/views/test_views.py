"""Views: each field against a plain reading of the moves, and the observation's slices."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

import numpy as np
import pytest

from deals import RULE_SETS, complete, digits, special_hands, uniform_hands
from goita_env import Game, GoitaVectorEnv, get_rules, views
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL, decode, encode
from goita_env.tiles import COUNTS, KING, PAWN
from goita_env.views import FACE_DOWN, NONE, View
from goita_env.views.observation import HAND_COUNTS, OBSERVATION_SIZE, SLICES
from oracle import Referee
from playing import played
from samples import only


@dataclass(frozen=True)
class Position:
    """A position as a record tells it, and a viewer."""

    dealt: list
    dealer: int
    scores: tuple
    moves: tuple
    asked: int | None
    phase: str
    viewer: int
    kings_are_alike: bool

    def rel(self, seat):
        return (seat - self.viewer) % 4


def counts(tiles):
    tiles = list(tiles)
    return [tiles.count(kind) for kind in range(8)]


PARTS = ("seat", "event", "action", "play", "face_down", "hidden")
DECISIONS = [f"decisions.{field}" for field in PARTS]


def reading(position: Position) -> dict:
    """Reads all that a view shows from the moves, tile by tile."""
    p = position
    plays, passes, attacker = [], 0, None  # plays: seat, block, attack, face down
    called, choices = [0] * 4, [0] * 4
    passed = {"passed_opponents": np.zeros((4, 7), bool), "passed_partner": np.zeros((4, 7), bool)}
    log = []
    for seat, action in p.moves:
        pair = decode(action)
        if action == PASS:
            attack = plays[-1][2]
            passes += 1
            log.append((p.rel(seat), NONE, PASS, 0, False, False))
            which = "passed_partner" if (seat - attacker) % 4 == 2 else "passed_opponents"
            if attack != KING:
                passed[which][p.rel(seat), attack] = True
        elif pair is not None:
            log.append((p.rel(seat), len(plays)))  # completed once it is known what is shown
            plays.append((seat, *pair, attacker in (None, seat)))
            attacker, passes = seat, 0
        elif action == CALL:
            called[p.rel(seat)] = p.dealt[seat].count(PAWN)
        elif action in (REDEAL, CONTINUE):
            choices[p.rel(seat)] = action
    blocks, attacks, down = np.full((4, 4), NONE), np.full((4, 4), NONE), np.zeros((4, 4), bool)
    up, own_down = [[] for _ in range(4)], []
    hand = list(p.dealt[p.viewer])
    number = [0] * 4
    event = {name: np.full(13, NONE) for name in ("event_seat", "event_block", "event_attack")}
    event_down = np.zeros(13, bool)
    for n, (seat, block, attack, face_down) in enumerate(plays):
        who, own = p.rel(seat), seat == p.viewer
        # At scoring a doubled finish shows its seventh tile.
        doubled = number[who] == 3 and block == attack and (block != KING or p.kings_are_alike)
        shown = block if own or not face_down or doubled else FACE_DOWN
        blocks[who, number[who]], attacks[who, number[who]] = shown, attack
        hidden = shown == FACE_DOWN
        public = (encode(0 if hidden else block, attack), number[who], face_down, hidden)
        log[log.index((who, n))] = (who, n, *public)
        down[who, number[who]] = face_down and (own or not doubled)
        number[who] += 1
        for name, value in (("seat", who), ("block", shown), ("attack", attack)):
            event[f"event_{name}"][n] = value
        event_down[n] = face_down
        up[who] += [attack] if face_down and (own or not doubled) else [block, attack]
        if own:
            hand.remove(block)
            hand.remove(attack)
            own_down += [block] if face_down else []
    seen = [*hand, *own_down, *chain(*up)]
    asked = p.phase if p.asked == p.viewer else None
    decisions = [*log, *[(NONE, NONE, PASS, 0, False, False)] * (46 - len(log))]
    columns = zip(*decisions, strict=True)
    team = p.viewer % 2
    return {
        "hand": counts(hand),
        "unseen": [total - n for total, n in zip(COUNTS, counts(seen), strict=True)],
        "own_face_down": counts(own_down),
        "attack": plays[-1][2] if plays else NONE,
        "attacker": p.rel(attacker) if plays else NONE,
        "passes": passes,
        "dealer": p.rel(p.dealer),
        "king_up": any(KING in tiles for tiles in up),
        "scores": [p.scores[team], p.scores[1 - team]],
        "mover": p.rel((attacker + passes + 1) % 4 if plays else p.dealer),
        "mover_leads": not plays or passes == 3,
        "leads": p.rel(p.dealer) == 0 if not plays else attacker == p.viewer and passes == 3,
        "asked_call": asked == "question",
        "asked_choice": asked == "choice",
        "called": called,
        "choices": choices,
        "blocks": blocks,
        "attacks": attacks,
        "hand_sizes": [8 - 2 * n for n in number],
        "face_up": [counts(tiles) for tiles in up],
        "face_down": down,
        **passed,
        "num_plays": len(plays),
        **event,
        "event_face_down": event_down,
        **dict(zip(DECISIONS, columns, strict=True)),
        "decisions.length": len(log),
    }


ONLY_IN_PLAY = {"attack", "attacker", "passes", "king_up", "mover", "mover_leads", "leads"}
ONLY_IN_PLAY |= {"decisions.length"}
"""Fields about the moment; a view of a round that is over leaves them blank."""


def positions_of(rules: str, hands: np.ndarray, rng: np.random.Generator):
    """Plays a deal at random, all passes likely; yields each position with each viewer's words."""
    dealer, scores = int(rng.integers(4)), tuple((10 * rng.integers(0, 15, 2)).tolist())
    game = Game(rules, hands=digits(hands), dealer=dealer, scores=scores)
    judge = Referee(rules, hands.tolist(), dealer, scores)
    while True:
        now = hands.tolist(), dealer, scores, tuple(judge.log), judge.seat, judge.phase
        for viewer in range(4):
            yield Position(*now, viewer, rules != "nine"), game.view(viewer).words[0]
        if judge.seat is None:
            return
        legal = judge.legal_actions()
        passes = legal[0] == PASS and rng.random() < 0.4
        action = PASS if passes else int(rng.choice(legal))
        judge.play(action)
        if judge.phase == "redeal":
            return
        game.play(action)


@cache
def sample(rules: str) -> tuple[list[Position], View]:
    """Returns positions of random deals, half of them with special hands, and their views."""
    rng = np.random.default_rng(0)
    found = []
    for hands in np.concatenate([uniform_hands(rng, 14), special_hands(rng, 20)]):
        found += positions_of(rules, hands, rng)
    positions, words = zip(*found, strict=True)
    return positions, View(np.array(words), rules=rules)


def shown(view: View, name: str) -> np.ndarray:
    part, _, field = name.rpartition(".")
    return getattr(view.decisions(), field) if part else getattr(view, name)


@pytest.mark.parametrize("rules", only(RULE_SETS, "jga", "nine"))
def test_every_field_of_a_view_is_what_the_moves_say(rules):
    positions, view = sample(rules)
    readings = [reading(position) for position in positions]
    over = np.array([position.phase == "over" for position in positions])
    # A called hand of six or more lies open without having been played: the next test.
    called = np.array([bool(p.moves) and p.moves[-1][1] == CALL for p in positions]) & over
    for name in readings[0]:
        expected = np.array([one[name] for one in readings])
        rows = ~over if name in ONLY_IN_PLAY else ~called
        assert rows.sum() > 1_000
        wrong = np.flatnonzero((shown(view, name) != expected)[rows].reshape(rows.sum(), -1).any(1))
        assert len(wrong) == 0, (name, positions[np.flatnonzero(rows)[wrong[0]]])


def test_the_reading_covers_every_field():
    fields = {name for name in dir(View) if isinstance(getattr(View, name), cached_property)}
    named = {name for name in reading(sample("jga")[0][0]) if "." not in name}
    assert {name for name in fields if not name.startswith("_")} == named


def test_the_sample_covers_questions_choices_plays_and_ends():
    for rules in RULE_SETS:
        positions, view = sample(rules)
        phases = [position.phase for position in positions]
        assert min(phases.count(phase) for phase in ("question", "choice", "play", "over")) >= 6
        assert view.num_plays.max() >= 9
        assert view.event_face_down.sum(axis=1).max() >= 5
        for name in ("leads", "asked_call", "asked_choice", "king_up", "called", "choices"):
            assert getattr(view, name).any(), name


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("others", ["23", "88", "5", ""])
def test_a_called_hand_of_six_or_more_lies_open_to_all(rules, others):
    hands = complete("1" * (8 - len(others)) + others, "", "", "")
    game = played(Game(rules, hands=hands, dealer=3), "call")
    for viewer in range(4):
        view = game.view(viewer)
        caller = -viewer % 4
        assert view.called[0].tolist() == [8 - len(others) if n == caller else 0 for n in range(4)]
        assert view.face_up[0, caller].tolist() == counts(int(digit) - 1 for digit in hands[0])
        assert view.face_up[0].sum() == 8
        own = 0 if viewer == 0 else 8
        assert view.hand[0].sum() == own
        assert view.unseen[0].sum() == 24 - own
        assert (view.event_seat[0] == NONE).all()


@pytest.mark.parametrize("rules", RULE_SETS)
def test_legal_equals_the_mask_of_the_asked_seat(rules):
    positions, view = sample(rules)
    legal = view.legal()
    checked = 0
    for n, position in enumerate(positions):
        if position.asked == position.viewer:
            judge = Referee(rules, position.dealt, position.dealer)
            for _, action in position.moves:
                judge.play(action)
            assert np.flatnonzero(legal[n]).tolist() == judge.legal_actions()
            checked += 1
    assert checked > 250
    env = GoitaVectorEnv(512, rules, "match", seed=1)
    turn, rng = env.reset(), np.random.default_rng(0)
    for _ in range(100):
        assert np.array_equal(turn.view.legal(), turn.action_mask)
        turn = env.step(env.sample_legal(rng))


def test_seat_view_equals_the_acting_view_and_takes_one_seat_or_one_a_game():
    env = GoitaVectorEnv(64, seed=1)
    turn, rng = env.reset(), np.random.default_rng(0)
    for _ in range(60):
        state = env._match.state
        assert np.array_equal(views.acting_view(state).words, turn.view.words)
        each = views.seat_view(state, turn.seat.astype(int))
        assert np.array_equal(each.words, turn.view.words)
        for seat in range(4):
            one = views.seat_view(state, seat)
            rows = turn.seat == seat
            assert np.array_equal(one.words[rows], turn.view.words[rows])
            assert not (one.asked_call | one.asked_choice)[~rows].any()
        turn = env.step(env.sample_legal(rng))


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_view_and_its_observation_convert_into_each_other(rules):
    _, view = sample(rules)
    array = view.observation()
    assert (array.dtype, array.shape) == (np.uint8, (len(view), OBSERVATION_SIZE))
    game = np.arange(len(view)) + 5
    back = views.from_observation(array, game, rules)
    assert np.array_equal(back.words, view.words)
    assert np.array_equal(back.game, game)
    assert back.rules is get_rules(rules)
    for dtype in (bool, np.int8, np.float32, np.float64, np.int64):
        assert np.array_equal(views.from_observation(array.astype(dtype)).words, view.words)
    assert np.array_equal(views.from_observation(array[7]).words, view.words[7:8])
    assert np.array_equal(views.from_observation(array[7].tolist()).words, view.words[7:8])


def test_the_slices_cover_every_bit_that_is_ever_set_and_each_is_used():
    ever = np.zeros(OBSERVATION_SIZE, bool)
    for rules in RULE_SETS:
        ever |= sample(rules)[1].observation().any(axis=0)
    named = np.zeros(OBSERVATION_SIZE, bool)
    for one in SLICES:
        named[one.start : one.stop] = True
        assert ever[one.start : one.stop].any(), one.name
    assert not ever[~named].any()


def one_hot(value, size):
    return [int(value == n) for n in range(size)]


def thermometer(value, size):
    return [int(n < value) for n in range(size)]


def meaning(read: dict) -> dict:
    """Says for each slice which bits it holds, by the reading of a position."""
    bits = {}
    for seat in range(4):
        for play in range(4):
            bits[f"block_{seat}_{play}"] = one_hot(read["blocks"][seat][play], 8)
            bits[f"attack_{seat}_{play}"] = one_hot(read["attacks"][seat][play], 8)
        bits[f"events_{seat}"] = [int(who == seat) for who in read["event_seat"]]
        bits[f"passed_opponents_{seat}"] = read["passed_opponents"][seat].astype(int).tolist()
        bits[f"passed_partner_{seat}"] = read["passed_partner"][seat].astype(int).tolist()
        bits[f"called_{seat}"] = [int(read["called"][seat] > 0)]
        bits[f"redeal_{seat}"] = [int(read["choices"][seat] == REDEAL)]
        bits[f"continue_{seat}"] = [int(read["choices"][seat] == CONTINUE)]
    for name, limits in (("hand", HAND_COUNTS), ("unseen", COUNTS)):
        parts = zip(read[name], limits, strict=True)
        bits[name] = [bit for number, size in parts for bit in thermometer(number, size)]
    bits["attack"] = one_hot(read["attack"], 8)
    for name in ("attacker", "dealer"):
        bits[name] = one_hot(read[name], 4)
    bits["passes"] = thermometer(read["passes"], 3)
    for name in ("king_up", "asked_call", "asked_choice"):
        bits[name] = [int(read[name])]
    for n, name in enumerate(("own_score", "other_score")):
        bits[name] = thermometer(read["scores"][n] // 10, 14)
    return bits


@pytest.mark.parametrize("rules", RULE_SETS)
def test_every_slice_holds_the_bits_that_its_name_says(rules):
    positions, view = sample(rules)
    array = view.observation()
    for n in range(0, len(positions), 7):
        if positions[n].phase != "over":
            bits = meaning(reading(positions[n]))
            assert set(bits) == {one.name for one in SLICES}
            for one in SLICES:
                assert array[n, one.start : one.stop].tolist() == bits[one.name], one.name
