"""Positions as text: what is written is what was played and what is legal, and it reads back."""

import time
from itertools import product

import numpy as np
import pytest

from deals import digits, special_hands, uniform_hands
from goita_env import Game, GoitaVectorEnv, InformationStructure, MessageChannel, Rules, actions
from goita_env.actions import CALL, MESSAGE, PASS, SILENT
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_env.rules import RULE_SETS
from goita_env.text import describe, parse, rules
from goita_env.tiles import PAWN
from goita_env.worlds import enumerate_worlds
from playing import played

SEATS = ("you", "next", "partner", "previous")
UNSEEN = "Tiles not seen, in hands or face down"
HANDS = ["12355688", "11123467", "11122344", "11134557"]


def line(text: str, start: str) -> str:
    """Returns what stands behind a line's first words."""
    return next(one for one in text.split("\n") if one.startswith(start)).removeprefix(start + ": ")


def dealt(name: str, rng: np.random.Generator, count: int) -> np.ndarray | None:
    """Deals, half of the time with special hands; None for a small game."""
    both = np.concatenate((special_hands(rng, count // 2), uniform_hands(rng, count // 2)))
    return None if RULE_SETS[name].is_small else both


@pytest.mark.parametrize("name", RULE_SETS)
def test_codes_in_the_text_are_the_legal_actions_and_read_back(name):
    rng, on = np.random.default_rng(0), np.full(340, True)  # 2,040 rounds in all
    env = GoitaVectorEnv(num_games=len(on), rules=name, seed=1, observe=False)
    turn = env.reset(hands=dealt(name, rng, len(on)))
    while on.any():
        masks = turn.action_mask[on]
        for text, legal in zip(describe(turn.view[on], masks), masks, strict=True):
            codes = line(text, "Legal actions").split()
            assert [parse(f"[1] or [{code}]", legal) for code in codes] == [*np.flatnonzero(legal)]
        turn = env.step(env.sample_legal(rng))
        on &= ~turn.done


def written(game: Game, viewer: int) -> str:
    """Writes the moves of a game as one seat knows them, from the log of the game alone."""
    told, attacker = [], None
    for seat, action in game.moves:
        place = (seat - viewer) % 4
        if action in (MESSAGE, SILENT) or (action > MESSAGE and place % 2):
            continue  # the viewer is not told
        what = actions.name(action, 77)
        if action == CALL:
            what = f"call {game.dealt[seat, PAWN]} pawns"
        elif 0 < action < CALL:
            down = attacker in (None, seat)
            known = not down or place in (0, *game.information.shown_seats)
            what = f"{'lead' if down else 'receive'} {what if known else '?' + what[1]}"
            attacker = seat
        told.append(f"{SEATS[place]}: {what}")
    return "; ".join(told) or "none"


TALK = InformationStructure("partner", MessageChannel(2))


@pytest.mark.parametrize("information", [PLAIN, TALK], ids=["plain", "talk"])
@pytest.mark.parametrize("name", RULE_SETS)
def test_moves_in_the_text_are_those_that_were_played(name, information):
    rng, asked = np.random.default_rng(2), set()
    hands = dealt(name, rng, 6)
    for seed in range(6):
        hand = None if hands is None else digits(hands[seed])
        game = Game(name, hands=hand, seed=seed, information=information)
        while not game.done and len(game.deals) == 1:
            for viewer in range(4):
                legal = np.zeros((1, information.num_actions), bool)
                legal[0, game.legal_actions()] = viewer == game.seat
                text = describe(game.view(viewer), legal, deduced=True)[0]
                assert line(text, "Moves") == written(game, viewer)
                sizes = game.hands.sum(axis=1)[(viewer + np.arange(4)) % 4]
                assert line(text, "Tiles left") == ", ".join(map("{} {}".format, SEATS, sizes))
                asked.add(line(text, "To do").split()[0].rstrip(":,"))
            game.play(int(rng.choice(game.legal_actions())))
    assert {"nothing", "lead", "receive"} <= asked
    assert ("send" in asked, "choose" in asked) == (information is TALK, hands is not None)


def test_a_position_reads_as_a_player_would_tell_it():
    game = Game(hands=HANDS, dealer=0, scores=(20, 50))
    view = played(game, "32", "26", "p", "p", "68").view(1)
    assert describe(view, view.legal(), deduced=True)[0].split("\n") == [
        "Rule set jga. Dealer: previous.",
        "Points: your team 50, the other team 20",
        "Known hands: you 111347",
        "Moves: previous: lead ?2; you: receive 26; next: p; partner: p; previous: receive 68",
        "Tiles left: you 6, next 8, partner 8, previous 4",
        f"{UNSEEN}: 7 of 1, 2 of 2, 3 of 3, 3 of 4, 4 of 5, 1 of 7, 1 of 8",
        "The king not seen: previous, in hand or face down in play 1",
        "To do: receive the attack 8 of previous, or pass",
        "Legal actions: p",
    ]
    assert UNSEEN not in describe(view, view.legal())[0]


def test_messages_and_shown_hands_are_told():
    view = played(Game(hands=HANDS, dealer=2, information=TALK), "say3", "say1").view(0)
    text = describe(view, view.legal())[0]
    assert line(text, "Moves") == "partner: say3"
    assert line(text, "Legal actions") == "say0 say1 say2 say3"
    assert line(text, "Known hands") == "you 12355688, partner 11122344"


@pytest.mark.parametrize("name", ["jga", "pagat", "nine"])
def test_deductions_hold_in_every_world_and_are_tight(name):
    rng, told = np.random.default_rng(3), 0
    env = GoitaVectorEnv(num_games=120, rules=name, seed=5, observe=False)
    turn = env.reset(hands=dealt(name, rng, 120))
    for _ in range(40):
        for n in np.flatnonzero(turn.view.hand_sizes.sum(axis=1) < 11)[:2]:
            view = turn.view[[n]]
            text = describe(view, turn.action_mask[[n]], deduced=True)[0]
            worlds = enumerate_worlds(view, 50_000)
            unseen = (worlds.dealt - worlds.face_up)[:, 1:]
            kinds = ", ".join(f"{c} of {k + 1}" for k, c in enumerate(unseen[0].sum(axis=0)) if c)
            assert line(text, UNSEEN) == kinds
            if "Pawns of these" in text:
                bounds = [f(unseen[:, :, PAWN], axis=0) for f in (np.min, np.max)]
                said = ", ".join(map("{} {} to {}".format, SEATS[1:], *bounds))
                assert line(text, "Pawns of these") == said
                told += 1
        turn = env.step(env.sample_legal(rng))
    assert told


def test_rules_of_every_rule_set_take_at_most_350_words_and_tell_what_differs():
    duty, truth = ("choice", "duty"), (False, True)
    fields = (duty, duty, truth, truth, truth, truth, ("called", "held"), ("choice", "redeal"))
    own = [Rules("own", *chosen) for chosen in product(*fields)]
    texts = [rules(one) for one in (*RULE_SETS, *own, Rules("own", match_points=50))]
    assert max(len(text.split()) for text in texts) <= 350
    assert len({rules(one) for one in own}) == 256
    assert ("50 points wins" in texts[-1], "king" in rules("mini_3")) == (True, False)


PAWN_SILVER = actions.encode(2, 4)


@pytest.mark.parametrize(
    ("action", "answers"),
    [
        (None, ["", "p", "[]", "[p", "[I play 35]", "[35, p]", "[say1]", "35", "\\boxed 35"]),
        (None, ["<think>[p] is right.</think>", "<think>[p]</think>\nI pass."]),
        (None, ["[21]", "[p] or [21]", "[silent] or [call]"]),  # 21 and call are not legal here
        # Two actions in the last line that names any: which is meant, their order does not tell.
        (None, ["I play [35]. I would not pass [p].", "[35] because [p] is bad", "[35][silent]"]),
        (PASS, ["[p]", "[35] is weak.\nSo I pass: [p].", "[[ P ]]", "**[p]**", "[p] and then []"]),
        (SILENT, ["[35]\n[silent]\nThat is my answer.", "[Silent], yes, [silent]"]),
        (
            PAWN_SILVER,
            [
                *("[a [35] b]", "p [35] p", "<think>[p]</think>\n[35]", "[Action: 35]", "[ 3 5 ]"),
                *("<think>[p]</think> [35]", r"\boxed{\text{35}}", r"\boxed{\textbf{35}}"),
                *(r"$\boxed{35}$", "`35`", '{"action": "35"}', '{\n"action": 35\n}', "[move = 35]"),
                *("［３５］", "【35】", "【３５】", "[35].\r\n\r\n"),
            ],
        ),
        (actions.encode(7, 7), ["[89]"]),
    ],
)
def test_the_last_line_that_names_one_action_decides(action, answers):
    legal = np.zeros(actions.NUM_ACTIONS, bool)
    legal[[PASS, SILENT, PAWN_SILVER, actions.encode(7, 7)]] = True
    assert {answer: parse(answer, legal) for answer in answers} == dict.fromkeys(answers, action)


def test_an_answer_of_any_length_is_read_at_once():
    legal = np.ones(actions.NUM_ACTIONS, bool)
    for long in ("[" * 400_000, "`" * 400_001, "[35] " * 100_000, '"action":' * 50_000):
        start = time.process_time()
        parse(long, legal)
        assert time.process_time() - start < 5


def test_legal_actions_can_be_left_out():
    view = Game(seed=1).view(0)
    (whole,), (short,) = (describe(view, view.legal(), list_legal=on) for on in (True, False))
    assert whole == f"{short}\n{whole.splitlines()[-1]}"
    assert whole.splitlines()[-1].startswith("Legal actions: ")


def test_legal_actions_of_another_shape_are_refused():
    with pytest.raises(SettingError, match=r"expected legal .* \(1, 69\), got \(69,\)"):
        describe(Game(seed=1).view(0), np.zeros(69, bool))
