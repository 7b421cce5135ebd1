"""Views: each field against a plain reading of the moves, the observation's slices, and suppose."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from deals import RULE_SETS, complete, digits, special_hands, uniform_hands
from oracle import Referee
from playing import played

from goita_env import Game, GoitaVectorEnv, Rules, get_rules, views
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL, decode, encode
from goita_env.errors import HandsError, SettingError
from goita_env.tiles import COUNTS, KING, PAWN
from goita_env.views import FACE_DOWN, NONE, View
from goita_env.views import observation as layout
from goita_env.views.observation import HAND_COUNTS, OBSERVATION_SIZE, SLICES

DOCS = Path(__file__).resolve().parents[3] / "docs" / "observation.md"


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
            log.append((p.rel(seat), NONE))
            which = "passed_partner" if (seat - attacker) % 4 == 2 else "passed_opponents"
            if attack != KING:
                passed[which][p.rel(seat), attack] = True
        elif pair is not None:
            log.append((p.rel(seat), len(plays)))
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
    seats, events = np.full(46, NONE), np.full(46, NONE)
    for n, (who, play) in enumerate(log):
        seats[n], events[n] = who, play
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
        "decisions.seat": seats,
        "decisions.event": events,
        "decisions.length": len(log),
    }


ONLY_IN_PLAY = {"attack", "attacker", "passes", "king_up", "leads", "decisions.length"}
"""Fields about the moment; a view of a round that is over leaves them blank."""


def positions_of(rules: str, hands: np.ndarray, rng: np.random.Generator):
    """Plays a deal at random, all passes likely; yields each position with each viewer's words."""
    dealer, scores = int(rng.integers(4)), tuple((10 * rng.integers(0, 15, 2)).tolist())
    game = Game(rules, hands=digits(hands), dealer=dealer, scores=scores)
    judge = Referee(rules, hands.tolist(), dealer, scores)
    while True:
        for viewer in range(4):
            position = Position(
                hands.tolist(),
                dealer,
                scores,
                tuple(judge.log),
                judge.seat,
                judge.phase,
                viewer,
                rules != "nine",
            )
            yield position, game.view(viewer).words[0]
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
    for hands in np.concatenate([uniform_hands(rng, 40), special_hands(rng, 40)]):
        found += positions_of(rules, hands, rng)
    positions, words = zip(*found, strict=True)
    return positions, View(np.array(words), rules=rules)


def shown(view: View, name: str) -> np.ndarray:
    part, _, field = name.rpartition(".")
    return getattr(view.decisions(), field) if part else getattr(view, name)


# ------------------------------------------------------------------------------------------ fields


@pytest.mark.parametrize("rules", RULE_SETS)
def test_every_field_of_a_view_is_what_the_moves_say(rules):
    positions, view = sample(rules)
    readings = [reading(position) for position in positions]
    over = np.array([position.phase == "over" for position in positions])
    # A called hand of six or more lies open without having been played: the next test.
    called = np.array([bool(p.moves) and p.moves[-1][1] == CALL for p in positions]) & over
    for name in readings[0]:
        expected = np.array([one[name] for one in readings])
        rows = ~over if name in ONLY_IN_PLAY else ~called
        assert rows.sum() > 3_000
        wrong = np.flatnonzero((shown(view, name) != expected)[rows].reshape(rows.sum(), -1).any(1))
        assert len(wrong) == 0, (name, positions[np.flatnonzero(rows)[wrong[0]]])


def test_the_reading_covers_every_field():
    fields = {name for name in dir(View) if isinstance(getattr(View, name), cached_property)}
    named = reading(sample("jga")[0][0])
    assert {name for name in fields if not name.startswith("_")} == {
        name for name in named if "." not in name
    }


def test_the_sample_covers_questions_choices_plays_and_ends():
    for rules in RULE_SETS:
        positions, view = sample(rules)
        phases = [position.phase for position in positions]
        assert min(phases.count(phase) for phase in ("question", "choice", "play", "over")) >= 12
        assert view.num_plays.max() >= 10
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
    assert checked > 600
    env = GoitaVectorEnv(512, rules, "match", seed=1)
    turn, rng = env.reset(), np.random.default_rng(0)
    for _ in range(100):
        assert np.array_equal(turn.view.legal(), turn.action_mask)
        turn = env.step(env.sample_legal(rng))


def test_seat_view_equals_the_asked_view_and_takes_one_seat_or_one_a_game():
    env = GoitaVectorEnv(64, seed=1)
    turn, rng = env.reset(), np.random.default_rng(0)
    for _ in range(60):
        state = env._match.state
        assert np.array_equal(views.asked_view(state).words, turn.view.words)
        each = views.seat_view(state, turn.seat.astype(int))
        assert np.array_equal(each.words, turn.view.words)
        for seat in range(4):
            one = views.seat_view(state, seat)
            rows = turn.seat == seat
            assert np.array_equal(one.words[rows], turn.view.words[rows])
            assert not (one.asked_call | one.asked_choice)[~rows].any()
        turn = env.step(env.sample_legal(rng))


def test_views_are_indexed_by_slices_arrays_and_masks():
    turn = GoitaVectorEnv(10, "nine", seed=1).reset()
    view = turn.view
    view.game[:] = np.arange(10) + 100
    for index in (slice(2, 5), np.array([7, 1, 1]), np.arange(10) % 3 == 0):
        some = view[index]
        assert np.array_equal(some.words, view.words[index])
        assert np.array_equal(some.game, view.game[index])
        assert np.array_equal(some.hand, view.hand[index])
        assert some.rules is view.rules
        assert len(some) == len(view.words[index])


# ------------------------------------------------------------------------------------- observation


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


def test_the_slices_are_named_once_in_order_and_do_not_overlap():
    assert OBSERVATION_SIZE <= 640
    assert len({one.name for one in SLICES}) == len(SLICES)
    end = 0
    for one in SLICES:
        assert one.start >= end, one.name
        assert one.size > 0
        end = one.stop
    assert end <= OBSERVATION_SIZE


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


@pytest.mark.skipif(not DOCS.exists(), reason="docs/observation.md is not written yet")
def test_the_observations_page_holds_the_table_printed_from_the_code():
    assert layout.documentation() in DOCS.read_text(encoding="utf-8")


def test_the_documentation_names_every_slice_with_its_bits():
    text = layout.documentation()
    assert f"Layout version {layout.OBSERVATION_VERSION}: {OBSERVATION_SIZE} bits" in text
    for one in SLICES:
        assert f"| `{one.name}` | {one.start}:{one.stop} | {one.meaning} |" in text


# ----------------------------------------------------------------------------------------- suppose


@dataclass(frozen=True)
class Record:
    """A deal's record, as suppose reads it."""

    rules: Rules
    hands: np.ndarray
    dealer: int
    scores: tuple
    moves: tuple

    def seen_by(self, seat: int, moves=None) -> np.ndarray:
        """Plays the record and returns what the seat saw at each of its decisions: [n, 8]."""
        game = Game(self.rules, hands=digits(self.hands), dealer=self.dealer, scores=self.scores)
        seen = []
        for mover, action in moves or self.moves:
            if mover == seat:
                seen.append(game.view(seat).words[0])
            assert game.seat == mover
            game.play(action)
        return np.array(seen).reshape(-1, 8)


def record(rules: str, hands: np.ndarray, rng: np.random.Generator) -> Record:
    """Plays a deal at random to its end."""
    dealer, scores = int(rng.integers(4)), (30, 110)
    judge = Referee(rules, hands.tolist(), dealer, scores)
    while judge.seat is not None:
        legal = judge.legal_actions()
        judge.play(PASS if legal[0] == PASS and rng.random() < 0.3 else int(rng.choice(legal)))
    # A redeal is not the deal's last word: the record ends before it.
    moves = judge.log[:-1] if judge.phase == "redeal" else judge.log
    return Record(get_rules(rules), hands, dealer, scores, tuple(moves))


def records_of(rules: str, count: int = 25):
    rng = np.random.default_rng(4)
    for hands in np.concatenate([uniform_hands(rng, count), special_hands(rng, count)]):
        yield record(rules, hands, rng), rng


@pytest.mark.parametrize("rules", RULE_SETS)
def test_supposing_the_real_hand_gives_the_real_views(rules):
    checked = 0
    for one, _ in records_of(rules):
        for seat in range(4):
            supposed = views.suppose(one, seat, one.hands[seat][None])
            seen = one.seen_by(seat)
            assert len(supposed) == len(seen)
            for view, words in zip(supposed, seen, strict=True):
                assert np.array_equal(view.words, words[None])
                assert view.rules is one.rules
                checked += 1
    assert checked > 600


def left_over(one: Record, seat: int) -> list[int]:
    """Lists the tiles that a seat never played."""
    left = list(one.hands[seat])
    for mover, action in one.moves:
        if mover == seat and decode(action) is not None:
            for kind in decode(action):
                left.remove(kind)
    return left


def exchanged(one: Record, seat: int, other: int, mine: int, theirs: int) -> Record | None:
    """Exchanges two tiles that were never played; None where the moves don't fit any more."""
    hands = [list(hand) for hand in one.hands.tolist()]
    hands[seat].remove(mine)
    hands[other].remove(theirs)
    hands[seat].append(theirs)
    hands[other].append(mine)
    return replayed(replace(one, hands=np.array(hands)))


def replayed(one: Record) -> Record | None:
    judge = Referee(one.rules.name, one.hands.tolist(), one.dealer, one.scores)
    try:
        for seat, action in one.moves:
            if judge.seat != seat:
                return None
            judge.play(action)
    except ValueError:
        return None
    return one


@pytest.mark.parametrize("rules", RULE_SETS)
def test_supposing_other_hands_gives_what_would_have_been_seen(rules):
    compared = 0
    for one, rng in records_of(rules):
        for seat in range(4):
            worlds = [one]
            for other in range(4):
                pools = left_over(one, seat), left_over(one, other)
                if other != seat and all(pools):
                    mine, theirs = (int(rng.choice(pool)) for pool in pools)
                    worlds.append(exchanged(one, seat, other, mine, theirs))
            worlds = [world for world in worlds if world is not None]
            supposed = views.suppose(one, seat, np.array([world.hands[seat] for world in worlds]))
            for n, world in enumerate(worlds):
                seen = world.seen_by(seat)
                assert np.array_equal(np.array([v.words[n] for v in supposed]).reshape(-1, 8), seen)
            compared += len(worlds) - 1
    assert compared > 200


@pytest.mark.parametrize("rules", RULE_SETS)
def test_supposing_other_tiles_face_down_gives_what_would_have_been_seen(rules):
    compared = 0
    for one, rng in records_of(rules):
        for seat in range(4):
            attacker, down = None, []
            for n, (mover, action) in enumerate(one.moves):
                if decode(action) is not None:
                    if mover == seat and attacker in (None, seat):
                        down.append(n)
                    attacker = mover
            left = left_over(one, seat)
            if not down or not left:
                continue
            place, tile = int(rng.integers(len(down))), int(rng.choice(left))
            moves = list(one.moves)
            attack = decode(moves[down[place]][1])[1]
            moves[down[place]] = seat, encode(tile, attack)
            world = replayed(replace(one, moves=tuple(moves)))
            if world is None:
                continue
            blocks = [decode(one.moves[n][1])[0] for n in down]
            others = [*blocks[:place], tile, *blocks[place + 1 :]]
            hands = np.array([one.hands[seat]] * 2)
            supposed = views.suppose(one, seat, hands, np.array([blocks, others]))
            words = np.array([view.words for view in supposed])
            assert np.array_equal(words[:, 0], one.seen_by(seat))
            assert np.array_equal(words[:, 1], world.seen_by(seat))
            compared += 1
    assert compared > 25


def test_supposing_no_hands_gives_empty_views():
    one, _ = next(records_of("jga"))
    supposed = views.suppose(one, one.dealer, np.zeros((0, 8), int))
    assert supposed
    assert all(len(view) == 0 for view in supposed)


def known() -> Record:
    """Seat 0 lays a knight face down, attacks with a lance, then plays two pawns."""
    hands = complete("321145", "", "", "")
    game = played(Game("jga", hands=hands, dealer=0), "32", "p", "p", "p", "11")
    kinds = np.array([[int(digit) - 1 for digit in hand] for hand in hands])
    return Record(game.rules, kinds, 0, (0, 0), tuple(game.moves))


@pytest.mark.parametrize("seat", [4, -1, "0", None])
def test_suppose_refuses_what_is_no_seat(seat):
    with pytest.raises(SettingError, match=r"expected a seat 0\.\.3, got"):
        views.suppose(known(), seat, known().hands[:1])


BAD_SUPPOSED = {
    "one hand without a row": (known().hands[0], None),
    "seven tiles": (known().hands[:1, :7], None),
    "fractions": (known().hands[:1] * 1.0, None),
    "strings": (["11223344"], None),
    "rows of different lengths": ([[0, 1], [0]], None),
    "kind 8": (np.full((1, 8), 8), None),
    "kind -1": (np.full((1, 8), -1), None),
    "a hand without the tiles played": (known().hands[1:2] * 0 + 3, None),
    "a hand of pawns": (np.zeros((1, 8), int), None),
    "eight kings": (np.full((1, 8), KING), None),
    "more of a kind than there are": (np.array([[2, 1, 0, 0, 7, 7, 7, 3]]), None),
    "one of two hands wrong": (np.array([known().hands[0], [0] * 8]), None),
    "too few tiles face down": (known().hands[:1], np.array([[2]])),
    "no row of tiles face down": (known().hands[:1], np.array([2, 0])),
    "tiles face down for another number of hands": (known().hands[:1], np.array([[2, 0]] * 3)),
    "kind 8 face down": (known().hands[:1], np.array([[2, 8]])),
    "fractions face down": (known().hands[:1], np.array([[2.0, 0.0]])),
    "a tile face down that is not held": (known().hands[:1], np.array([[7, 0]])),
}


@pytest.mark.parametrize("wrong", BAD_SUPPOSED)
def test_suppose_refuses_wrong_hands_and_tiles(wrong):
    hands, face_down = BAD_SUPPOSED[wrong]
    with pytest.raises(HandsError, match=r"(?s)expected .*got "):
        views.suppose(known(), 0, hands, face_down)


def test_suppose_refuses_tiles_that_another_seat_has_played_face_up():
    game = played(Game("jga", hands=complete("24", "88", "", ""), dealer=0), "24", "88", "p")
    one = Record(game.rules, game.dealt, 0, (0, 0), tuple(game.moves))
    hand = [kind for kind in range(8) for _ in range(game.dealt[2, kind])]
    assert len(views.suppose(one, 2, np.array([hand]))) == 1
    with pytest.raises(HandsError, match=r"(?s)expected .*got "):
        views.suppose(one, 2, np.array([[*hand[1:], KING]]))  # seat 1 has played both
