"""Computes hidden slices of an acting seat's observation from the slices that are left.

Plain Python on named bits, one observation at a time; nothing of ``goita_env`` but the names.
"""

from goita_env.tiles import COUNTS, HAND_SIZE, KING
from goita_env.views.observation import SLICES

LIMITS = {"hand": [min(count, HAND_SIZE) for count in COUNTS], "unseen": list(COUNTS)}

FOLLOW = ("passed_opponents", "passed_partner", "attack", "attacker", "passes", "king_up", "unseen")
"""What the plays, their order and the own hand give back, all of it hidden at once; after the first
play the dealer, too."""

PLAYS = tuple(
    f"{what}_{seat}_{play}"
    for what in ("block", "attack")
    for seat in range(4)
    for play in range(3)
)
"""Plays that an acting seat may see; a fourth play ends the round."""


def named(row):
    """Returns an observation [512] as lists of bits by slice."""
    return {one.name: row[one.start : one.stop].tolist() for one in SLICES}


def one_hot(kind, size):
    return [int(place == kind) for place in range(size)]


def kind_of(bits):
    return bits.index(1) if 1 in bits else None


def thermometer(name, counts):
    """Returns the bits of tiles of each kind."""
    pairs = zip(counts, LIMITS[name], strict=True)
    return [int(place < count) for count, limit in pairs for place in range(limit)]


def tiles(name, bits):
    """Counts the tiles of each kind in a slice of thermometers."""
    found = []
    for limit in LIMITS[name]:
        found.append(sum(bits[:limit]))
        bits = bits[limit:]
    return found


def order(bits):
    """Lists the plays in order: their seats, and which of the seat's plays each is."""
    plays = {e: seat for seat in range(4) for e, bit in enumerate(bits[f"events_{seat}"]) if bit}
    made = [0] * 4
    for event in range(len(plays)):
        seat = plays[event]
        yield seat, made[seat]
        made[seat] += 1


def visible(bits):
    """Counts the tiles that the viewer sees played, its own face-down blocks among them."""
    shown = [kind_of(bits[name]) for name in PLAYS]
    return [shown.count(kind) for kind in range(8)]


def following(bits):
    """Returns the slices of ``FOLLOW``, and the dealer where a play was made, from the others."""
    passed = {f"{name}_{seat}": [0] * 7 for name in FOLLOW[:2] for seat in range(4)}
    attacker = attack = dealer = None
    passes, king_up = 0, False

    def passing(until):
        nonlocal passes
        while attacker is not None and (attacker + passes + 1) % 4 != until:
            seat = (attacker + passes + 1) % 4
            what = "partner" if passes == 1 else "opponents"
            if attack != KING:
                passed[f"passed_{what}_{seat}"][attack] = 1
            passes += 1

    for seat, play in order(bits):
        passing(seat)
        down = attacker in (None, seat)
        dealer = seat if attacker is None else dealer
        block, attack = (kind_of(bits[f"{one}_{seat}_{play}"]) for one in ("block", "attack"))
        king_up |= attack == KING or (block == KING and not down)
        attacker, passes = seat, 0
    passing(0)
    own = tiles("hand", bits["hand"])
    gone = [a + b for a, b in zip(own, visible(bits), strict=True)]
    found = passed | {
        "attack": one_hot(attack, 8),
        "attacker": one_hot(attacker, 4),
        "passes": [int(n < passes) for n in range(3)],
        "king_up": [int(king_up)],
        "unseen": thermometer("unseen", [a - b for a, b in zip(COUNTS, gone, strict=True)]),
    }
    return found if dealer is None else found | {"dealer": one_hot(dealer, 4)}


def hand(bits):
    """Returns the own hand from the unseen tiles and the plays."""
    gone = [a + b for a, b in zip(tiles("unseen", bits["unseen"]), visible(bits), strict=True)]
    return thermometer("hand", [a - b for a, b in zip(COUNTS, gone, strict=True)])


def events(bits, seat):
    """Returns one seat's slice of events from the others' and the number of plays."""
    plays = sum(1 for name in PLAYS if name.startswith("attack") and 1 in bits[name])
    others = [bits[f"events_{other}"] for other in range(4) if other != seat]
    return [int(e < plays and not any(one[e] for one in others)) for e in range(13)]


def play(bits, name):
    """Returns the kind of one block or attack from the tiles that are missed."""
    what, seat, number = name.split("_")
    made, place = list(order(bits)), (int(seat), int(number))
    if place not in made:
        return [0] * 8
    before = made[: made.index(place)][-1:]
    down = not before or before[0][0] == place[0]
    if what == "block" and down and place[0] != 0:
        return [0] * 8
    left = tiles("hand", bits["hand"]), tiles("unseen", bits["unseen"]), visible(bits)
    missed = [count - sum(parts) for count, *parts in zip(COUNTS, *left, strict=True)]
    return one_hot(missed.index(1), 8)
