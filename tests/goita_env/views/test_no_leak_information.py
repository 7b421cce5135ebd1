"""No leak with shown tiles and messages: what a seat isn't told changes nothing that it sees."""

import numpy as np
import pytest

from deals import RULE_SETS, special_hands
from goita_env import InformationStructure, MessageChannel
from goita_env.engine import core, tables
from goita_env.engine.episodes import Match
from goita_env.engine.legal_bits import sample_legal
from goita_env.views import observation as packing
from informed_oracle import OPTIONS, SHOWN
from redrawn_worlds import random_world, redraw
from samples import rotating, slow

POSITIONS = 12


def unheard(options: InformationStructure, viewer: int) -> list[int]:
    """Lists the seats whose messages a viewer does not hear."""
    private = options.channel is not None and options.channel.audience == "partner"
    return [(viewer + 1) % 4, (viewer + 3) % 4] if private else []


def look(options, world, messages, viewer):
    """Plays a world in the core, messages first; returns what the viewer sees, and its mask."""
    match = Match(1, world.rules, auto_reset=False, information=options)
    match.reset(np.array([world.hands]), [world.dealer], [world.scores])
    state = match.state
    moves = [69 + messages[(world.dealer + n) % 4] for n in range(4)] if options.channel else []
    for action in (*moves, *(action for _, action in world.moves)):
        core.step(state, np.array([action]))
    asked = state.seat[0] == viewer
    mask = core.unpack_legal(*core.legal_actions(state), options.num_actions)[0] & asked
    return packing.pack_seat(state, viewer)[0].tolist(), mask.tolist()


def tiles_of_shown(options, world, viewer):
    seats = [(viewer + place) % 4 for place in SHOWN[options.shown]]
    judge = world.judge
    return [(sorted(judge.hands[seat]), judge.face_down[seat]) for seat in seats]


@pytest.mark.parametrize(("options", "rules"), rotating(OPTIONS, RULE_SETS), ids=str)
def test_no_seat_sees_what_it_cannot_know(rules, options):
    """Deals and messages are redrawn where the viewer isn't told of them, and played again."""
    rng, compared = np.random.default_rng(0), 0
    for _ in range(POSITIONS):
        world, viewer = random_world(rules, rng), int(rng.integers(4))
        known = tiles_of_shown(options, world, viewer)
        found = (redraw(world, viewer, rng) for _ in range(4))
        others = [one for one in found if one and tiles_of_shown(options, one, viewer) == known]
        messages = rng.integers(0, 1 << options.bits, 4).tolist()
        changed = list(messages)
        for seat in unheard(options, viewer):
            changed[seat] = int(rng.integers(0, 1 << options.bits))
        for other in [world, *others]:
            first, second = (
                look(options, *which, viewer) for which in ((world, messages), (other, changed))
            )
            assert first == second
            compared += other is not world or changed != messages
    assert compared or options.shown == "all"


def hide_anew(state: core.State, viewers: np.ndarray, rng: np.random.Generator) -> core.State:
    """Swaps a tile between two seats whose tiles the viewers aren't shown, and unheard messages."""
    options, games = state.information, np.arange(state.num_games)
    other, hands = state.copy(), tables.code_counts()
    if options.shown != "all":
        one, two = (1, 3) if options.shown else rng.permutation([1, 2, 3])[:2]
        slots = [(viewers + place + state.offset) & 3 for place in (one, two)]
        codes = [state.hand[slot, games] & tables.CODE_MASK for slot in slots]
        kinds = [(hands[code] * rng.random((len(games), 8))).argmax(axis=1) for code in codes]
        held = np.logical_and(*(code > 0 for code in codes))
        weights = [np.array(tables.RADIX)[kind] * held for kind in kinds]
        other.hand[slots[0], games] += weights[1] - weights[0]
        other.hand[slots[1], games] += weights[0] - weights[1]
    for place in (1, 3) if unheard(options, 0) else ():
        slot = (viewers + place + state.offset) & 3
        drawn = rng.integers(0, 1 << options.bits, len(games))
        # What an opponent said, and what it heard of its partner.
        for sender in (0, 2):
            at = tables.FRAME_MESSAGES + 3 * sender
            other.frame[slot, games] &= ~np.int64(7 << at)
            other.frame[slot, games] |= drawn << at
    return other


@pytest.mark.parametrize("steps", [12, slow(300)])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_hidden_tiles_and_messages_are_in_no_bit(options, steps):
    """A million positions and more in all, each with one thing hidden from its viewer changed."""
    games = 128 if steps == 12 else 512
    rng, changed = np.random.default_rng(1), 0
    match = Match(games, "jga", information=options)
    match.reset(special_hands(rng, games))
    for step in range(steps):
        state = match.state
        viewers = np.where(rng.random(games) < 0.5, state.seat, rng.integers(0, 4, games))
        other = hide_anew(state, viewers, rng)
        changed += np.count_nonzero((other.data != state.data).any(axis=0))
        assert np.array_equal(packing.pack_seat(state, viewers), packing.pack_seat(other, viewers))
        if step % 3 == 0:  # nor does the seat that is asked see more than when it isn't
            seen = packing.pack_seat(state, state.seat)
            assert np.array_equal(packing.pack(state), seen)
        low, high = core.legal_actions(state)
        match.step(sample_legal(low, high, rng))
    if options.shown != "all" or unheard(options, 0):
        assert changed > 0.2 * steps * games


def test_a_planted_leak_of_a_private_message_is_caught(monkeypatch):
    options = InformationStructure(channel=MessageChannel(2, "partner"))
    test_hidden_tiles_and_messages_are_in_no_bit(options, 12)
    pack_seat = packing.pack_seat

    def leaky(state, seat, **how):
        words = pack_seat(state, seat, **how)
        slot = (np.asarray(seat) + 1 + state.offset) & 3
        heard = state.frame[slot, np.arange(len(words))] >> tables.FRAME_MESSAGES & 1
        words[:, packing.TABLE_WORD] |= heard.astype(np.uint64) << np.uint64(63)
        return words

    monkeypatch.setattr(packing, "pack_seat", leaky)
    with pytest.raises(AssertionError):
        test_hidden_tiles_and_messages_are_in_no_bit(options, 12)


def test_nobody_is_told_who_is_asked_but_the_one_that_is():
    for options in OPTIONS:
        match = Match(64, "jga", information=options, auto_reset=False)
        match.reset(special_hands(np.random.default_rng(0), 64))
        state = match.state
        before = [packing.pack_seat(state, seat, hide_question=True) for seat in range(4)]
        for seat, words in enumerate(before):
            waits = state.seat != seat
            assert np.array_equal(words[waits], packing.pack_seat(state, seat)[waits])
