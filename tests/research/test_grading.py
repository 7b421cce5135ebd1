"""Grades against perfect play, of records and bots, and the command that sums them up."""

from dataclasses import replace

import numpy as np
import pytest

from goita_agents import solver
from goita_agents.base import RandomAgent
from goita_agents.bots.greedy import GreedyAgent
from goita_agents.solver.solver import Solver
from goita_env import actions, records
from goita_env.errors import SettingError
from goita_env.records import DealRecord, Record
from goita_env.rounds import Rounds
from goita_lab.phases import PLAY_PHASES
from record_samples import LINE
from research.grading import grade as losses
from research.grading.grade import play_deals
from research.records import read_units

SOLVER = Solver()


def grade(deal):
    return losses.grade_deal(deal, SOLVER)


def cut(deal: DealRecord, moves: int) -> DealRecord:
    return replace(deal, moves=deal.moves[:moves])


def sample() -> DealRecord:
    (deal,) = records.history.loads(LINE).deals
    return deal


def test_each_grade_is_what_the_solver_says_of_the_position():
    deal = sample()
    grades = grade(deal)
    assert [(one.seat, one.action) for one in grades] == list(deal.moves)
    for number, one in enumerate(grades):
        truth = solver.solve(cut(deal, number))
        assert one.choices == len(truth.values)
        assert one.tiles == 2 * sum(action > 0 for _, action in deal.moves[:number])
        if one.choices > 1:
            assert (one.best, one.value) == (truth.value, truth.values[one.action])
        assert one.loss >= 0


def test_losses_of_the_teams_add_up_to_what_the_round_came_to():
    """From the value of the deal, what one team loses the other gains."""
    for deal in play_deals(RandomAgent(), 6, seed=3):
        if any(action >= actions.CALL for _, action in deal.moves):
            continue
        value = solver.solve(cut(deal, 0)).value * (1 - 2 * (deal.dealer & 1))
        result = deal.result()
        points = result.points * (1 - 2 * (result.winner & 1))
        lost = sum(one.loss * (1 - 2 * (one.seat & 1)) for one in grade(deal))
        assert value - lost == points


def test_the_generator_that_an_agent_is_handed_does_not_tell_the_deals():
    entropies = set()

    class Attacker(RandomAgent):
        def act(self, view, legal, rng):
            entropies.add(rng.bit_generator.seed_seq.entropy)
            return super().act(view, legal, rng)

    secret = 6148914691236517205
    dealt = Rounds(8, seed=secret).decisions.dealt.hands
    play_deals(Attacker(), 8, seed=secret)
    (entropy,) = entropies
    assert entropy != secret
    for guess in (entropy % 2**63, entropy >> 65):
        assert not np.array_equal(Rounds(8, seed=guess).decisions.dealt.hands, dealt)


def test_a_summary_counts_each_phase_and_half_the_losses_of_all_seats():
    deals = play_deals(GreedyAgent(), 8, seed=4)
    rounds = [grade(deal) for deal in deals]
    found = losses.summarize("greedy", rounds)
    assert found.rounds == 8
    total = sum(one.loss for grades in rounds for one in grades) / 2 / 8
    assert found.lost["all"].mean == pytest.approx(total)
    assert found.lost["all"].low <= total <= found.lost["all"].high
    assert sum(found.lost[phase].mean for phase in PLAY_PHASES) == pytest.approx(total)
    chosen = [one for grades in rounds for one in grades if one.choices > 1]
    assert found.decisions == len(chosen)
    assert found.right == pytest.approx(np.mean([one.loss == 0 for one in chosen]))
    assert losses.summarize("greedy", [*rounds, []]) == found  # a call ended the last
    with pytest.raises(SettingError):
        losses.summarize("greedy", [rounds[0], []])


def test_the_command_prints_a_row_for_each_agent_and_for_people(tmp_path, capsys):
    def rows(*arguments):
        assert losses.main([*map(str, arguments)]) == 0
        return capsys.readouterr().out.splitlines()

    kifu, rules = tmp_path / "one.yaml", tmp_path / "my_rules.json"
    rules.write_text('{"name": "mine", "call_five": "duty"}')
    deals = play_deals(GreedyAgent(), 2, seed=6)
    kifu.write_text(records.kifu.dumps(Record(tuple(deals))), encoding="utf-8")
    short = rows("--agents", "short=random", "--rounds", 2, "--rules", rules)
    assert [cell.strip() for cell in short[2].split("|")[1:3]] == ["short", "2"]
    both = rows("--agents", "greedy", "--rounds", 2, "--seed", 6, "--records", tmp_path)
    assert [cell.strip() for cell in both[2].split("|")[1:3]] == ["people", "2"]
    assert both[3].split("|")[2:] == both[2].split("|")[2:]


def write(file, deals):
    file.write_text(records.kifu.dumps(Record(tuple(deals))), encoding="utf-8")


def test_a_deal_that_two_files_hold_counts_once_and_the_whole_record_of_it_stays(tmp_path):
    one, two, three, four = play_deals(GreedyAgent(), 4, seed=1)
    broken = replace(two, moves=two.moves[:5])
    write(tmp_path / "a.yaml", [one, broken])
    write(tmp_path / "a (1).yaml", [one, two, three])
    (tmp_path / "b.txt").write_text(f"{records.history.dumps(Record((four, one)))}\n")
    found = read_units([tmp_path], "jga", "a test")
    assert [(each.file.name, each.deal.moves) for each in found.deals] == [
        ("a (1).yaml", one.moves),
        ("a (1).yaml", two.moves),
        ("a (1).yaml", three.moves),
        ("b.txt", four.moves),
    ]
    games = [each.game for each in found.deals]
    assert games[0] == games[1] == games[2] != games[3]
    copy, match, line = (tmp_path / name for name in ("a (1).yaml", "a.yaml", "b.txt"))
    assert found.notes == (
        f"left out: deals of {match} that {copy} holds, too: 2",
        f"left out: deals of {line} that {copy} holds, too: 1",
        f"one unit, since hands are the same: {copy} and {match} and {line}",
    )
    assert len(losses.read_kifu([tmp_path], "jga")) == 4
