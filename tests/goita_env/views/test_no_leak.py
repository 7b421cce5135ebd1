"""No leak: redraw all that a seat cannot know, and what it sees stays the same to the bit."""

from collections import Counter
from functools import cache, cached_property

import numpy as np
import pytest

from deals import RULE_SETS, complete, digits, special_hands, tiles_of
from goita_env import Game, goita_v0, text
from goita_env.actions import SILENT
from goita_env.engine import core, tables
from goita_env.engine.episodes import Match
from goita_env.render import ansi, svg
from goita_env.tiles import KING
from goita_env.views import View
from goita_env.views import observation as packing
from goita_env.views.observation import TABLE_WORD
from playing import after_reset, deal, legal_mask
from redrawn_worlds import World, random_world, redraw
from samples import only

POSITIONS = 90


def look(worlds: list[World], viewers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Plays worlds of one rule set in the core; returns what each viewer sees at their ends.

    Returns:
        The packed observations [N, 8], and the masks [N, 69], all False where it is not asked.
    """
    hands = np.array([world.hands for world in worlds])
    dealers = np.array([world.dealer for world in worlds])
    state = deal(worlds[0].rules, hands, dealers, np.array([world.scores for world in worlds]))
    lengths = np.array([len(world.moves) for world in worlds])
    words, masks = np.zeros((len(worlds), 8), np.uint64), np.zeros((len(worlds), 69), bool)
    for step in range(lengths.max() + 1):
        now, mask, asked = lengths == step, legal_mask(state), state.seat == viewers
        words[now] = packing.pack_seat(state, viewers)[now]
        masks[now & asked] = mask[now & asked]
        assert np.array_equal(packing.pack(state)[now & asked], words[now & asked])
        on = step < lengths
        chosen = mask.argmax(axis=1)  # past its end a world plays on, unseen
        chosen[on] = [world.moves[step][1] for world in worlds if step < len(world.moves)]
        assert mask[on, chosen[on]].all()
        core.step(state, chosen)
    return words, masks


def fields(words: np.ndarray, rules: str) -> dict[str, np.ndarray]:
    """Reads every field and method of the views."""
    view = View(words, rules=rules)
    names = [name for name in dir(View) if isinstance(getattr(View, name), cached_property)]
    assert len(names) > 20
    read = {name: getattr(view, name) for name in names}
    decisions = view.decisions()
    read |= {name: getattr(decisions, name) for name in ("seat", "event", "length")}
    return read | {"observation": view.observation(), "legal": view.legal()}


@cache
def pairs(rules: str) -> tuple[list[World], list[World], np.ndarray, int]:
    """Returns worlds and their redraws, whose eyes see them, and how many were not redrawn."""
    rng = np.random.default_rng(0)
    before, after, viewers, failed = [], [], [], 0
    for _ in range(POSITIONS):
        world = random_world(rules, rng)
        for viewer in range(4):
            other = redraw(world, viewer, rng)
            if other is None:
                failed += 1
            else:
                before.append(world)
                after.append(other)
                viewers.append(viewer)
    return before, after, np.array(viewers), failed


def leaks(rules: str) -> np.ndarray:
    """Tells of each pair of worlds whether the viewer can tell one from the other: bool [N]."""
    before, after, viewers, _ = pairs(rules)
    words, masks = look(before, viewers)
    other_words, other_masks = look(after, viewers)
    return (words != other_words).any(axis=1) | (masks != other_masks).any(axis=1)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_no_seat_sees_what_it_cannot_know(rules):
    before, after, viewers, _ = pairs(rules)
    words, masks = look(before, viewers)
    other_words, other_masks = look(after, viewers)
    assert np.array_equal(words, other_words)
    assert np.array_equal(masks, other_masks)
    one, other = fields(words, rules), fields(other_words, rules)
    assert all(np.array_equal(one[name], other[name]) for name in one)
    asked = masks.any(axis=1)
    assert np.array_equal(one["legal"][asked], masks[asked])


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS)
def test_no_seat_sees_what_it_cannot_know_in_many_positions(monkeypatch, rules):
    monkeypatch.setattr(f"{__name__}.POSITIONS", 1_000)
    pairs.cache_clear()
    test_no_seat_sees_what_it_cannot_know(rules)
    test_the_redraw_changes_something_hidden_in_95_of_100_positions(rules)
    pairs.cache_clear()


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_redraw_changes_something_hidden_in_95_of_100_positions(rules):
    before, after, viewers, failed = pairs(rules)
    changed = sum(
        one.hidden_from(viewer) != other.hidden_from(viewer)
        for one, other, viewer in zip(before, after, viewers, strict=True)
    )
    assert changed + failed == 4 * POSITIONS
    assert changed >= 0.95 * 4 * POSITIONS


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_positions_cover_questions_choices_play_and_ends(rules):
    before, after, viewers, _ = pairs(rules)
    phases = Counter(world.judge.phase for world in before)
    asked = Counter(
        world.judge.phase
        for world, viewer in zip(before, viewers, strict=True)
        if world.judge.seat == viewer
    )
    assert min(phases[phase] for phase in ("question", "choice", "play", "over")) >= 8
    assert min(asked[phase] for phase in ("question", "choice", "play")) >= 3
    # An open question, or a silence, that one world has and the other has not.
    silent = [[action == SILENT for _, action in world.moves] for world in (*before, *after)]
    differ = sum(sum(silent[n]) != sum(silent[n + len(before)]) for n in range(len(before)))
    phase = sum(
        one.judge.phase != other.judge.phase for one, other in zip(before, after, strict=True)
    )
    assert phase >= 6
    if rules != "pagat":  # where calling is a duty nobody keeps silent
        assert differ >= 6


@pytest.mark.parametrize("rules", RULE_SETS)
def test_no_agent_of_the_environment_sees_what_it_cannot_know(rules):
    before, after, viewers, _ = pairs(rules)
    rng = np.random.default_rng(1)
    for n in rng.choice(len(before), 30, replace=False):
        agent = f"player_{viewers[n]}"
        seen = []
        for world in (before[n], after[n]):
            env = goita_v0.raw_env(rules)
            options = {"hands": digits(world.hands), "dealer": world.dealer, "scores": world.scores}
            env.reset(seed=0, options=options)
            for _, action in world.moves:
                env.step(action)
            seen.append((env.observe(agent), env.infos[agent], env.rewards[agent]))
        (one, *public), (other, *also_public) = seen
        assert np.array_equal(one["observation"], other["observation"])
        assert np.array_equal(one["action_mask"], other["action_mask"])
        assert public == also_public


def drawn(words: np.ndarray, rules: str, n: int, game: int) -> list[str]:
    """Draws a view in all ways; nothing may depend on how its game is numbered."""
    view = View(words[n : n + 1], np.array([game]), rules)
    legal = view.legal()[0]
    return [
        ansi.render(view),
        str(view),
        svg.render(view, faces="letters"),
        svg.render(view, probabilities=legal / max(legal.sum(), 1)),
    ]


@pytest.mark.parametrize("rules", only(RULE_SETS, "nine"))
def test_no_drawing_tells_what_its_seat_cannot_know(rules):
    before, after, viewers, _ = pairs(rules)
    words, _ = look(before, viewers)
    other, _ = look(after, viewers)
    for n in np.random.default_rng(3).choice(len(words), 20, replace=False):
        assert drawn(words, rules, n, 0) == drawn(other, rules, n, 7)


@pytest.mark.parametrize("deduced", [False, True])
@pytest.mark.parametrize("rules", RULE_SETS)
def test_no_text_tells_what_its_seat_cannot_know(rules, deduced):
    before, after, viewers, _ = pairs(rules)
    (words, masks), (other, other_masks) = look(before, viewers), look(after, viewers)
    games = np.arange(len(words)) + 7
    told = text.describe(View(words, rules=rules), masks, deduced=deduced)
    assert told == text.describe(View(other, games, rules), other_masks, deduced=deduced)
    assert len(set(told)) > 0.5 * len(told)


@pytest.mark.parametrize("rules", only(RULE_SETS, "jga"))
def test_a_new_deal_carries_over_scores_and_dealer_and_nothing_else(rules):
    rng = np.random.default_rng(2)
    match = after_reset(Match(100, rules, "match"), special_hands(rng, 100))
    deals = match.deals.copy()
    compared = 0
    for _ in range(150):
        mask = legal_mask(match.state)
        match.step((mask * rng.random(mask.shape)).argmax(axis=1))
        new = np.flatnonzero(match.deals != deals)
        deals = match.deals.copy()
        if len(new) == 0:
            continue
        state = match.state.repeat((np.isin(np.arange(100), new)).astype(int))
        hands = np.array([tiles_of(counts) for counts in state.hand_counts()])
        fresh = deal(rules, hands, state.dealer, state.scores.T)
        assert np.array_equal(state.seat, fresh.seat)
        assert np.array_equal(legal_mask(state), legal_mask(fresh))
        assert np.array_equal(packing.pack(state), packing.pack(fresh))
        for seat in range(4):
            words = packing.pack_seat(state, seat)
            assert np.array_equal(words, packing.pack_seat(fresh, seat))
        compared += len(new)
    assert compared >= 250


def next_seat_holds_a_king(state: core.State, viewer: np.ndarray) -> np.ndarray:
    slot = (viewer + 1 + state.offset) & 3
    hand = np.take_along_axis(state.hand, slot[None], axis=0)[0] & tables.CODE_MASK
    return hand >= tables.RADIX[KING]


def partner_laid_a_pawn_face_down(state: core.State, viewer: np.ndarray) -> np.ndarray:
    slot = (viewer + 2 + state.offset) & 3
    down = np.take_along_axis(state.down, slot[None], axis=0)[0]
    return down % 11 > 0


def somebody_is_asked_a_question(state: core.State, viewer: np.ndarray) -> np.ndarray:
    return (state.status >= tables.CALL_CHOICE) & (state.status < tables.WAITING)


def steps_were_counted(state: core.State, viewer: np.ndarray) -> np.ndarray:
    return np.full(state.num_games, state.clock & 1, bool)


SECRETS = [
    (rules, secret)
    for rules in RULE_SETS
    for secret in (
        next_seat_holds_a_king,
        partner_laid_a_pawn_face_down,
        somebody_is_asked_a_question,
        steps_were_counted,
    )
    # Where calling is a duty nobody keeps silent, and the steps are public.
    if (rules, secret) != ("pagat", steps_were_counted)
]


def plant(monkeypatch, secret, bit):
    """Lets a secret show in a bit of the word that tells of the table."""
    pack_seat = packing.pack_seat

    def leaky_pack_seat(state, seat):
        words = pack_seat(state, seat)
        told = secret(state, np.broadcast_to(seat, len(words))).astype(np.uint64)
        words[:, TABLE_WORD] |= told << np.uint64(bit)
        return words

    monkeypatch.setattr(packing, "pack_seat", leaky_pack_seat)
    monkeypatch.setattr(packing, "pack", lambda state: leaky_pack_seat(state, state.seat))


@pytest.mark.parametrize(("rules", "secret"), SECRETS)
def test_a_planted_leak_is_caught(monkeypatch, rules, secret):
    assert not leaks(rules).any()
    plant(monkeypatch, secret, 63)
    assert leaks(rules).sum() >= 2


def test_a_leak_into_a_drawing_or_a_text_is_caught(monkeypatch):
    plant(monkeypatch, next_seat_holds_a_king, tables.FRAME_OTHER_SCORE + tables.SCORE_BITS - 1)
    before, after, viewers, _ = pairs("jga")
    (words, _), (other, _) = look(before, viewers), look(after, viewers)
    caught = [drawn(words, "jga", n, 0) != drawn(other, "jga", n, 0) for n in range(30)]
    assert sum(caught) >= 3
    legal = np.zeros((len(words), 69), bool)
    one, two = (text.describe(View(seen, rules="jga"), legal) for seen in (words, other))
    assert sum(a != b for a, b in zip(one, two, strict=True)) >= 3


def test_a_game_shows_a_silent_seat_to_nobody():
    game, seen = Game("jga", hands=complete("11111234", "11111235", "", ""), dealer=0), []
    for _ in range(2):
        seen.append([game.view(seat).words.tolist() for seat in (2, 3)])
        game.play(SILENT)
    assert seen[0] == seen[1] == [game.view(seat).words.tolist() for seat in (2, 3)]
