"""The batched core against the oracle, a plain referee written from the rules' text alone."""

from dataclasses import replace

import numpy as np
import pytest

from deals import RULE_SETS, special_hands, tiles_of
from goita_env import JGA, NINE, PAGAT, GoitaVectorEnv, Rules
from goita_env.actions import CALL, REDEAL
from goita_env.engine import core, rulebook
from goita_env.engine.rulebook import Question, partner
from goita_env.rules import MINI_3, MINI_4, MINI_5
from goita_env.tiles import KING, LANCE, POINTS
from oracle import ORACLE_RULES, OracleRules, Referee
from playing import deal, legal_mask, pick
from samples import slow


class MismatchError(AssertionError):
    """Says in which game core and oracle part, and after which moves."""


class Judge(Referee):
    """Works out the legal actions of a position once, though a move asks for them again."""

    def __init__(self, name, hands, dealer, scores=(0, 0)):
        self.name, self._known = name, None
        super().__init__(name, hands, dealer, scores)

    def legal_actions(self) -> list[int]:
        if self._known != (key := (id(self.log), len(self.log))):
            self._known, self._legal = key, super().legal_actions()
        return self._legal


def agree(judge: Referee, what: str, core_says: object, oracle_says: object) -> None:
    if core_says != oracle_says:
        raise MismatchError(
            f"{what}: core {core_says!r}, oracle {oracle_says!r}; hands {judge.hands}, "
            f"dealer {judge.dealer}, moves {judge.log}"
        )


def check_decision(judge: Referee, seat: int, bits: bytes) -> None:
    """Compares who is asked, and what is legal (the mask as bytes of bits)."""
    if judge.seat != seat:
        agree(judge, "the acting seat", seat, judge.seat)
    legal = judge.legal_actions()
    if int.from_bytes(bits, "little") != sum(1 << action for action in legal):
        held = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
        agree(judge, "the legal actions", np.flatnonzero(held).tolist(), legal)


def rows_of_bits(mask: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.packbits(mask, axis=1, bitorder="little")]


def check_environment(
    rules: str | Rules,
    judged_by: str | OracleRules,
    episode: str,
    *,
    games: int,
    decisions: int,
    seed: int = 0,
) -> int:
    """Plays random rounds or matches in environment and oracle; returns the number of decisions."""
    env = GoitaVectorEnv(games, rules, episode, seed=seed, observe=False)
    rng = np.random.default_rng(seed)
    turn = env.reset()
    dealers, hands = env._match.state.dealer.tolist(), env._match.state.hand_counts()
    judges = [Judge(judged_by, tiles_of(hands[i]), dealers[i]) for i in range(games)]
    made = 0
    while made < decisions:
        seats, bits = turn.seat.tolist(), rows_of_bits(turn.action_mask)
        for game, judge in enumerate(judges):
            check_decision(judge, seats[game], bits[game])
        chosen = env.sample_legal(rng)
        turn = env.step(chosen)
        made += games
        points, winner, done = turn.points.tolist(), turn.winner.tolist(), turn.done.tolist()
        for game, action in enumerate(chosen.tolist()):
            judge = judges[game]
            judge.play(action)
            over = judge.phase == "over"
            if points[game] != judge.points or done[game] or over:
                agree(judge, "the points", points[game], judge.points)
                agree(judge, "the winner", winner[game], judge.winner)
                ends = over and (episode == "round" or judge.match_over)
                agree(judge, "the end", done[game], ends)
                sign = 1 - 2 * (judge.winner % 2)
                gains = [judge.points * sign * (1 - 2 * (seat % 2)) for seat in range(4)]
                agree(judge, "the rewards", turn.reward[game].tolist(), gains)
            if judge.seat is None:
                judges[game] = next_deal(judge, env._match.state, game, done[game])
    return made


def next_deal(judge: Judge, state: core.State, game: int, done: bool) -> Judge:
    """Hands the core's next deal to the oracle after comparing dealer and scores."""
    hands = tiles_of(state.hand_counts()[game])
    dealer, scores = int(state.dealer[game]), state.scores[:, game].tolist()
    if done:
        agree(judge, "the scores of a new episode", scores, [0, 0])
        return Judge(judge.name, hands, dealer)  # first dealers are drawn: the core's
    agree(judge, "the next dealer", dealer, judge.next_dealer)
    agree(judge, "the scores", scores, list(judge.scores))
    judge.deal(hands)
    return judge


def check_core(rules: str | Rules, judged_by: str, games: int, seed: int = 0) -> int:
    """Plays deals rich in pawns on the bare core, until each has ended or waits for a redeal."""
    rng = np.random.default_rng(seed)
    hands, dealer = special_hands(rng, games), rng.integers(0, 4, games)
    scores = 10 * rng.integers(0, 15, (games, 2))
    state = deal(rules, hands, dealer, scores)
    judges = [
        Judge(judged_by, hands[i].tolist(), int(dealer[i]), scores[i].tolist())
        for i in range(games)
    ]
    made = 0
    while any(judge.seat is not None for judge in judges):
        seats, mask = state.seat.tolist(), legal_mask(state)
        bits = rows_of_bits(mask)
        chosen = pick(mask, rng.integers(0, 1 << 30, games))
        core.step(state, chosen)
        ended = set(state.ended.tolist())
        for game, action in enumerate(chosen.tolist()):
            judge = judges[game]
            if judge.seat is None:
                agree(judge, "nobody is asked", (seats[game], any(bits[game])), (-1, False))
                continue
            check_decision(judge, seats[game], bits[game])
            judge.play(action)
            made += 1
            agree(judge, "the end", game in ended, judge.seat is None)
    for game, judge in enumerate(judges):
        won = judge.phase == "over"
        agree(judge, "the winner", int(state.winner[game]), judge.winner if won else -1)
        agree(judge, "the points", int(state.points[game]), judge.points)
        agree(judge, "the scores before", state.scores[:, game].tolist(), scores[game].tolist())
        if not won or judge.log[-1][1] != CALL:  # a called hand lies on the table
            counts = state.hand_counts()[game]
            agree(judge, "the hands", tiles_of(counts), [sorted(hand) for hand in judge.hands])
    return made


@pytest.mark.parametrize("how", [(256, 12_000, 0), slow((4_096, 1_000_000, 1))])
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("rules", RULE_SETS)
def test_core_and_oracle_agree_on_random_decisions(rules, episode, how):
    games, decisions, seed = how
    made = check_environment(rules, rules, episode, games=games, decisions=decisions, seed=seed)
    assert made >= decisions


@pytest.mark.parametrize("games", [500, slow(10_000)])
@pytest.mark.parametrize("rules", RULE_SETS)
def test_core_and_oracle_agree_on_deals_rich_in_pawns(rules, games):
    assert check_core(rules, rules, games=games) >= 5 * games


@pytest.mark.parametrize("total", [10, 60, 140, *map(slow, range(10, 160, 10))])
def test_core_and_oracle_agree_on_where_a_match_to_another_total_ends(total):
    rules = (JGA, PAGAT, NINE)[total // 10 % 3]
    judge = replace(ORACLE_RULES[rules.name], target=total)
    other = replace(rules, name="mine", match_points=total)
    check_environment(other, judge, "match", games=64, decisions=12_000, seed=total)


@pytest.mark.parametrize("deck", [MINI_3.deck, MINI_4.deck, MINI_5.deck, (2, 4, 4, 0, 0, 2, 2, 2)])
@pytest.mark.parametrize("rules", [JGA, PAGAT, NINE], ids=RULE_SETS)
def test_core_and_oracle_agree_in_small_games(rules, deck):
    own = replace(rules, name="mine", deck=deck)
    judge = replace(ORACLE_RULES[rules.name], deck=deck)
    check_environment(own, judge, "round", games=256, decisions=12_000)


def test_a_small_game_without_the_last_king_is_found():
    judge = replace(ORACLE_RULES["jga"], deck=MINI_4.deck, king_as_last_tile=False)
    with pytest.raises(MismatchError):
        check_environment(MINI_4, judge, "round", games=256, decisions=12_000)


def test_a_match_that_ends_too_late_is_found():
    judge = replace(ORACLE_RULES["jga"], target=140)
    with pytest.raises(MismatchError):
        check_environment("jga", judge, "match", games=64, decisions=12_000)


def check_all(rules: Rules, judged_by: str) -> None:
    """Compares a rule set of another name, so that nothing built for it before is found again."""
    check_core(rules, judged_by, games=500)
    check_environment(rules, judged_by, "round", games=256, decisions=20_000)


def king_receives_lance(receives):
    return lambda block, attack: receives(block, attack) or (block, attack) == (KING, LANCE)


def king_attacks_with_one_of_four_tiles(allowed):
    return lambda rules, kings, tiles, permitted: (
        allowed(rules, kings, tiles, permitted) or tiles == 4
    )


def points_alike_are_doubled(points):
    return lambda rules, block, attack, face_down: (
        points(rules, block, attack, face_down)
        * (1 + (face_down and block != attack and POINTS[block] == POINTS[attack]))
    )


def face_up_finish_is_doubled(points):
    return lambda rules, block, attack, face_down: points(rules, block, attack, True)


def seven_pawns_score_once(points):
    return lambda rules, pawns, others: points(rules, pawns, others) // (1 + (pawns == 7))


def first_partner_redeals_alone(answer):
    def faulty(rules, question, action):
        if question.choosing and action == REDEAL:
            return "redeal"
        return answer(rules, question, action)

    return faulty


def partner_of_the_last_caller_chooses_first(answer):
    def faulty(rules, question, action):
        after = answer(rules, question, action)
        if isinstance(after, Question) and after.choosing and not question.choosing:
            return replace(after, seat=partner(after.called[-1]))
        return after

    return faulty


FAULTS = [
    (rulebook, "receives", king_receives_lance),
    (rulebook, "king_may_attack", king_attacks_with_one_of_four_tiles),
    (rulebook, "finish_points", points_alike_are_doubled),
    (rulebook, "finish_points", face_up_finish_is_doubled),
    (rulebook, "call_points", seven_pawns_score_once),
    (rulebook, "answer", first_partner_redeals_alone),
    (rulebook, "answer", partner_of_the_last_caller_chooses_first),
]


@pytest.mark.parametrize(
    ("module", "rule", "fault"), FAULTS, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_planted_rule_fault_is_found(monkeypatch, module, rule, fault):
    monkeypatch.setattr(module, rule, fault(getattr(module, rule)))
    with pytest.raises(MismatchError):
        check_all(replace(JGA, name=fault.__name__), "jga")


FIELDS = {
    "call_five": "duty",
    "call_six_or_more": "duty",
    "last_king": False,
    "second_king_after_own_face_down": False,
    "six_alike_doubles": False,
    "kings_are_alike": False,
    "partners_fives_win": "held",
    "opponents_fives": "redeal",
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_change_of_one_field_of_the_rules_is_found(field):
    with pytest.raises(MismatchError):
        check_all(replace(JGA, name=f"other {field}", **{field: FIELDS[field]}), "jga")


@pytest.mark.parametrize("rules", [JGA, slow(PAGAT), slow(NINE)])
def test_without_a_fault_a_renamed_rule_set_passes(rules):
    check_all(replace(rules, name="renamed"), rules.name)
