"""An exam beside the brute force, its scores by hand, its file and its command."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from belief_worlds import all_worlds, weigh
from goita_agents import load_agent
from goita_agents.base import AgentError
from goita_agents.identity import Identities
from goita_agents.models import PolicyModel
from goita_env import Game
from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_env.worlds import Worlds, determinize
from goita_lab.commands import exam
from goita_lab.exam import answers, making, questions, report
from goita_lab.exam.answers import Sheet, controls, graded, take
from goita_lab.exam.making import Piece, draw_evenly, make, piece_questions, value_position
from goita_lab.exam.questions import READERS, Questions
from goita_lab.exam.report import terminal
from goita_lab.phases import PHASES
from goita_lab.work import Runner
from raising import refuses
from world_positions import position

TABLES = (("greedy", "champion"),)


@pytest.fixture(scope="module")
def some():
    """Returns the positions of a few rounds of known players."""
    return piece_questions(Piece(TABLES[0], "round", 1, 5))


def late_game(seed, agents):
    """Plays a round until few tiles are left, and a seat has a choice."""
    rng = np.random.default_rng(seed)
    game = Game("jga", seed=seed)
    while not game.done:
        view, legal = game.view(game.seat), game.view(game.seat).legal()
        if view.hand_sizes.sum() <= 11 and legal.sum() > 1 and view.num_plays[0]:
            return game
        game.play(int(agents[game.seat % 2].act(view, legal, rng)[0]))
    return None


def brute_points(at, policies):
    """Returns the exact points of each legal action, and what each seat holds, by all worlds."""
    hands, down = all_worlds(at)
    weight = weigh(at, [PolicyModel(one, epsilon=0) for one in policies[1:]], hands, down)
    some = weight > 0
    hands, down, weight = hands[some], down[some], weight[some] / weight[some].sum()
    rows = np.zeros(len(hands), np.int64)
    worlds = Worlds(hands, down, np.ones(len(hands)), at.view.face_up[rows])
    positions, found = determinize(at.view[rows], worlds), {}
    for action in np.flatnonzero(at.view.legal()[0]).tolist():
        games = Rounds.from_positions(positions, actions=np.full(len(hands), action))
        points = np.zeros(len(hands))
        while True:
            now = games.decisions
            if now.ended is not None:
                sign = np.where(now.ended.winner % 2, -1, 1)
                points[now.ended.rows] = now.ended.points * sign
            if games.over:
                break
            acts = np.zeros(len(now.rows), np.int64)
            for seat, one in enumerate(policies):
                mine = np.flatnonzero(now.seats == seat)
                if len(mine):
                    acts[mine] = one.act(now.view[mine], now.legal[mine], np.random.default_rng(0))
            games.step(acts)
        found[action] = float(weight @ points)
    left = np.stack([hands[:, seat].astype(int) for seat in (1, 2, 3)], axis=1)
    for play in range(down.shape[2]):
        for place, seat in enumerate((1, 2, 3)):
            under = down[:, seat, play]
            known = under >= 0
            np.add.at(left, (np.flatnonzero(known), place, under[known]), 1)
    return found, np.einsum("n,nsk->sk", weight, left > 0)


def test_points_and_beliefs_are_those_of_all_worlds():
    names = ("champion", "greedy")
    agents, checked = [load_agent(name) for name in names], 0
    for seed in range(200):
        game = late_game(seed, agents)
        if game is None or checked == 10:
            continue
        at = position(game)
        players = tuple(names[(game.seat + turn) % 2] for turn in range(4))
        question = value_position(at.view, players, np.random.default_rng(seed))
        if question is None:
            continue
        policies = [load_agent("champion"), *map(load_agent, players[1:])]
        points, held = brute_points(at, policies)
        for action, exact in points.items():
            error = max(float(question.error[action]), 1e-9)
            assert abs(question.points[action] - exact) <= 4.5 * error
        assert question.exact == pytest.approx(held, abs=1e-9)
        assert points[question.best] >= max(points.values()) - 1e-9
        checked += 1
    assert checked == 10


def test_controls_know_all_and_nothing(some):
    best, nothing, counting = controls(some)
    assert abs(counting.share([1]).mean) < 1
    # Each unseen tile of which there is one lies with one of the others.
    view, held = some.view(), answers.counted(some.view())
    one = view.unseen == 1
    assert held.sum(axis=1)[one] == pytest.approx(1)
    assert best.points().mean == 0
    assert best.share([1]).mean == pytest.approx(1)
    ahead = best.share([1], above=counting).mean
    assert ahead == pytest.approx(1 - counting.share([1]).mean)
    assert nothing.share([0, 2]).mean == pytest.approx(0)
    assert nothing.points().mean > 1
    assert 0 < nothing.right.mean() < 1
    # Who is sure of the opposite knows less than who knows nothing.
    wrong = graded("wrong", some, best.chosen, 1 - some.exact)
    assert wrong.share([1]).mean < -1


def test_beliefs_before_play_do_not_count():
    every = Questions.load()
    exam = every.select(np.arange(0, len(every), 10))
    before, chosen_actions = exam.phase() == 0, controls(exam)[0].chosen
    assert 5 < before.sum() < len(exam) - 5
    told = exam.exact.copy()
    told[before] = 1 - told[before]
    right, wrong = (graded("a", exam, chosen_actions, one) for one in (exam.exact, told))
    assert (wrong.known == right.known).all()
    assert wrong.share([0, 1, 2]).mean == pytest.approx(1)
    assert (wrong.could[before] == 0).all()
    told[~before] = 1 - told[~before]
    assert graded("a", exam, chosen_actions, told).share([0, 1, 2]).mean < 0


def test_the_control_that_counts_is_found_wherever_it_stands(some):
    agent, others = take("greedy", some), controls(some)
    sheets = [Sheet(some, (agent,), (), order) for order in (others, others[::-1])]
    tables, figures = (list(map(of, sheets)) for of in (report.groups_tables, report.figures))
    assert tables[0] == tables[1]
    assert tables[0][0].columns[2] == answers.COUNTING_CONTROL
    above = [one["agents"][0]["known_above_counting"] for one in figures]
    assert above[0] == above[1] == agent.share([0, 1, 2], above=others[2])


def test_scores_are_those_by_hand():
    exact = np.zeros((1, 3, 8))
    exact[0, 1, 0] = 0.5
    believed = exact.copy()
    believed[0, 1, 0] = 0.25
    kept = np.log(0.99) * 7
    found = answers.score(believed, exact)
    assert found[0, 1] == pytest.approx(0.5 * np.log(0.25) + 0.5 * np.log(0.75) + kept)
    assert found[0, 0] == pytest.approx(8 * np.log(0.99))


def test_policies_programs_and_believers_take_it(some):
    greedy = take("greedy", some)
    assert greedy.played == len(some)
    again = take("mine=champion:temperature=1", some, believes=False)
    assert again.played == sum("champion" in line for line in some.players) > 0
    assert greedy.known is not None
    # A program answers with actions, and cannot say what it believes.
    program = take("exec:python examples/bot_python.py", some)
    assert program.known is None
    assert program.share([1]) is None
    assert set(np.unique(program.chosen)) == {0, 1}

    class Knows:
        name = "knows"

        def act(self, view, legal, rng):
            return some.best

        def beliefs(self, view):
            return some.exact

    agent, ended = Knows(), []
    agent.close = lambda: ended.append(True)
    assert answers.beliefs(agent, some.view()) is not None
    found = take(agent, some)
    assert ended == [True]
    assert found.lost == pytest.approx(0)
    assert found.share([0, 2]).mean == pytest.approx(1)
    agent.beliefs = lambda view: some.exact[:, :2]
    refuses(AgentError, r"0 to 1 of shape \(\d+, 3, 8\) from beliefs", take, agent, some)


def test_a_wrong_answer_in_an_exam_is_a_random_one_and_wrong_probabilities_end_it(some, capsys):
    legal = some.view().legal()

    class Acts:
        def __init__(self):
            self.name = type(self).__name__.lower()

        def act(self, view, legal, rng):
            return np.where(np.arange(len(view)) % 2, some.best, (~legal).argmax(axis=1))

    class Sure(Acts):
        def probabilities(self, view, legal):
            return np.eye(69)[(~legal).argmax(axis=1)]

        def beliefs(self, view):
            return np.full((len(view), 3, 8), 0.5)

    acted = take(Acts(), some)
    random = controls(some)[1]
    failed = np.arange(len(some)) % 2 == 0
    assert len(acted.faults) == failed.sum()
    assert acted.lost[failed] == pytest.approx(random.lost[failed])
    assert acted.lost[~failed] == pytest.approx(0)
    assert (acted.chosen[failed] > 0).tolist() == legal[failed].tolist()
    text = terminal(Sheet(some, (acted,), (), controls(some)))
    assert f"acts: {failed.sum()} faults (illegal), for which any legal action stands" in text
    refuses(AgentError, "probability 0 for illegal actions from 'sure'", take, Sure(), some)


def test_an_agent_that_does_not_start_ends_an_exam_before_it_begins(tmp_path, monkeypatch, capsys):
    (tmp_path / "ends").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "ends").chmod(0o755)
    monkeypatch.setattr(exam, "take", None)  # nobody is asked
    with pytest.raises(SystemExit) as stop:
        exam.main(["take", "greedy", f"exec:{tmp_path / 'ends'}"])
    assert stop.value.code == 2
    assert "the program ended with exit" in capsys.readouterr().err


def test_an_exam_is_kept_whole_and_goes_on(some, tmp_path, monkeypatch):
    some.save(tmp_path / "exam.npz", {"seed": 5})
    found = Questions.load(tmp_path / "exam.npz")
    for name in questions.QUESTION_COLUMNS:
        assert np.allclose(getattr(found, name), getattr(some, name), atol=1e-5, equal_nan=True)
    assert (found.players, found.asked) == (some.players, some.asked)
    (tmp_path / "exam.npz").write_bytes(b"PK")
    refuses(SettingError, "expected a file of goita-exam-2", Questions.load, tmp_path / "exam.npz")
    monkeypatch.setattr(making, "ROUNDS", {"round": 8, "match": 2})
    for name in ("FIRST_WORLDS", "MOST_WORLDS", "FRESH_WORLDS"):
        monkeypatch.setattr(making, name, 32)
    kept = Runner(1, tmp_path / "kept")
    made = make(6, 5, kept, TABLES)
    assert len(made) == 6
    monkeypatch.setattr(making, "piece_questions", None)  # all pieces are there
    again = make(6, 5, kept, TABLES)
    assert (again.words == made.words).all()
    refuses(SettingError, "seed 5, now 6", make, 6, 6, kept, TABLES)
    monkeypatch.setattr(making, "FRESH_WORLDS", 64)
    refuses(SettingError, r"worlds \[32, 32, 32\], now \[32, 32, 64\]", make, 6, 5, kept, TABLES)
    monkeypatch.setattr(making, "FRESH_WORLDS", 32)
    changed = Identities(["champion"])
    changed.digests["champion"] = "0" * 64  # every piece depends on it
    refuses(TypeError, "NoneType", make, 6, 5, replace(kept, identities=changed), TABLES)


@pytest.mark.parametrize("keeps", [False, True])
def test_each_piece_of_an_exam_is_played_once(some, tmp_path, monkeypatch, keeps):
    played = []

    def piece_questions(piece):
        played.append(piece)
        return replace(some.select(np.array([0])), asked=2, sure=1)

    monkeypatch.setattr(making, "piece_questions", piece_questions)
    made = make(20, 5, Runner(1, tmp_path / "kept" if keeps else None), TABLES)
    assert len(made) == 20
    assert [piece.number for piece in played] == list(range(30))  # a position each, half to spare
    assert made.asked == 60


def test_positions_of_all_phases_and_stakes_are_drawn(some):
    twice = Questions.join([some, some])
    assert len(twice) == 2 * len(some)
    assert twice.asked == 2 * some.asked
    few = draw_evenly(twice, len(PHASES), seed=1)
    assert len(few) == len(PHASES)
    phases = np.bincount(some.phase(), minlength=4)
    assert len(np.unique(few.phase())) >= min(3, (phases > 0).sum())
    # The second best action is behind by what the question says.
    rows = np.arange(len(some))
    others = some.points.copy()
    others[rows, some.best] = np.nan
    gap = some.points[rows, some.best] - np.nanmax(others, axis=1)
    assert (some.lead >= gap - 1e-6).all()


def test_the_command_writes_tables_and_a_page(some, tmp_path, capsys):
    path = str(tmp_path / "exam.npz")
    some.save(tmp_path / "exam.npz", {"seed": 5})
    told, page = tmp_path / "told.json", tmp_path / "page.html"
    words = ["take", "greedy", "random", "--exam", path, "--json", str(told), "--html", str(page)]
    assert exam.main(words) == 0
    shown = capsys.readouterr().out
    assert exam.main([*words, "--workers", "2"]) == 0
    assert capsys.readouterr().out == shown
    assert f"{len(some)} positions" in shown
    assert "exact posterior" in shown
    found = {one["name"]: one for one in json.loads(told.read_text())["agents"]}
    assert found["greedy"]["points_lost"]["mean"] < found["random"]["points_lost"]["mean"]
    html = page.read_text()
    costly, rest = html.split("part</h2>")
    parted, misread = rest.split("misreads most</h2>")
    assert costly.count("<details") == min(20, len(some))
    assert 0 < parted.count("<details") <= 20
    assert re.search(r"has a \w+ with probability [01]\.\d\d; exact: [01]\.\d\d; by", misread)
    assert "<p>Keep a pawn to finish with.</p>" in costly
    assert "champion" in html
    assert "://" not in html.replace("http://www.w3.org", "")
    with pytest.raises(SystemExit):
        exam.main(["make", "-o", path, "--positions", "0"])


def test_a_rough_interval_has_its_mark(some, capsys, tmp_path):
    some.select(np.arange(3)).save(tmp_path / "exam.npz", {"seed": 5})
    assert exam.main(["take", "greedy", "--exam", str(tmp_path / "exam.npz")]) == 0
    out = capsys.readouterr().out
    shown = re.findall(r"\[[-+\d.]+, [-+\d.]+\]\??", out)
    assert len(shown) > 5
    assert all(one.endswith("?") for one in shown)
    assert '"]?": an interval of few values' in " ".join(out.split())


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        (["champion=random"], "another name for each agent, got 'champion=random' and 'champion'"),
        (["a=random", "a=greedy"], "another name for each agent"),
        (["greedy", "greedy"], "each agent once, got 'greedy' twice"),
    ],
)
def test_two_agents_of_one_name_are_refused(agents, words, capsys):
    with pytest.raises(SystemExit):
        exam.main(["take", *agents])
    assert words in capsys.readouterr().err


def test_the_shipped_exam_is_whole():
    found = Questions.load()
    assert len(found) == 600
    assert (np.bincount(found.phase(), minlength=4) > 50).all()
    legal = found.view().legal()
    assert (~np.isnan(found.points) == legal).all()
    assert legal[np.arange(600), found.best].all()
    assert found.exact.min() >= 0
    assert found.exact.max() <= 1 + 1e-6


def test_the_beliefs_that_are_kept_are_those_of_the_agents():
    found = Questions.load()
    few = found.select(np.arange(0, 600, 150))
    for reader in READERS:
        kept = few.kept(reader)
        assert kept == pytest.approx(answers.beliefs(load_agent(reader), few.view()), abs=1e-6)
    assert found.kept("greedy") is None


@pytest.mark.parametrize("reader", questions.READERS)
def test_the_shipped_beliefs_of_a_reader_that_has_changed_are_not_used(monkeypatch, reader):
    """If this fails because the rules of a bot were edited: python tools/exam_models.py."""
    shipped = Questions.load()
    assert shipped.kept(reader) is not None
    monkeypatch.setattr(questions, "reader_digest", lambda reader: "other rules")
    assert shipped.kept(reader) is None
    assert replace(shipped, about={}).kept(reader) is None
