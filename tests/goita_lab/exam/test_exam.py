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
from goita_agents.principles import PRINCIPLES
from goita_env import Game
from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_env.worlds import Worlds, determinize
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.commands import exam
from goita_lab.exam import answers, making, page, questions, report, scoring, weaknesses
from goita_lab.exam.answers import Sheet, controls, graded, take
from goita_lab.exam.making import Piece, draw_evenly, make, piece_questions, value_position
from goita_lab.exam.questions import QUESTION_KINDS, STORED_MODELS, Questions
from goita_lab.exam.report import terminal
from goita_lab.exam.scoring import score_interval
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
    best, by_rules, nothing, counting = controls(some)
    assert by_rules.known is None
    assert by_rules.lost.mean() >= 0
    assert abs(counting.share([1]).mean) < 1
    # Each unseen tile of which there is one lies with one of the others.
    view, held = some.view(), scoring.counted(some.view())
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
    assert (wrong.known["log"] == right.known["log"]).all()
    assert wrong.share([0, 1, 2]).mean == pytest.approx(1)
    assert (wrong.could["log"][before] == 0).all()
    told[~before] = 1 - told[~before]
    assert graded("a", exam, chosen_actions, told).share([0, 1, 2]).mean < 0


def test_the_control_that_counts_is_found_wherever_it_stands(some):
    agent, others = take("greedy", some), controls(some)
    sheets = [Sheet(some, (agent,), (), order) for order in (others, others[::-1])]
    tables, figures = (list(map(of, sheets)) for of in (report.groups_tables, report.figures))
    assert tables[0] == tables[1]
    assert tables[0][1].columns[-1] == answers.COUNTING_CONTROL
    above = [one["agents"][0]["known_above_counting"] for one in figures]
    assert above[0] == above[1] == agent.share([0, 1, 2], above=others[3])


def test_scores_are_those_by_hand():
    exact = np.zeros((1, 3, 8))
    exact[0, 1, 0] = 0.5
    believed = exact.copy()
    believed[0, 1, 0] = 0.25
    kept = np.log(0.99) * 7
    found = scoring.score(believed, exact)
    assert found[0, 1] == pytest.approx(0.5 * np.log(0.25) + 0.5 * np.log(0.75) + kept)
    assert found[0, 0] == pytest.approx(8 * np.log(0.99))


def test_policies_programs_and_believers_take_it(some):
    greedy = take("greedy", some)
    assert greedy.played == len(some)
    again = take("mine=champion:temperature=1", some, with_beliefs=False)
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
    assert answers.beliefs(agent, some.view())[1] == answers.OWN_BELIEFS
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
    random = controls(some)[2]
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
    monkeypatch.setattr(exam, "take_all", None)  # nobody is asked
    with pytest.raises(SystemExit) as stop:
        exam.main(["take", "greedy", f"exec:{tmp_path / 'ends'}"])
    assert stop.value.code == 2
    assert "the program ended with exit" in capsys.readouterr().err


def test_an_exam_is_kept_whole_and_goes_on(some, tmp_path, monkeypatch):
    some.save(tmp_path / "exam.npz", {"seed": 5})
    found = Questions.load(tmp_path / "exam.npz")
    for name in questions.QUESTION_COLUMNS:
        assert np.allclose(getattr(found, name), getattr(some, name), atol=1e-5, equal_nan=True)
    assert (found.players, found.valued) == (some.players, some.valued)
    (tmp_path / "exam.npz").write_bytes(b"PK")
    refuses(SettingError, "expected a file of goita-exam-3", Questions.load, tmp_path / "exam.npz")
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
        return replace(some.select(np.array([0])), valued=2, clear=1)

    monkeypatch.setattr(making, "piece_questions", piece_questions)
    made = make(20, 5, Runner(1, tmp_path / "kept" if keeps else None), TABLES)
    assert len(made) == 20
    assert [piece.number for piece in played] == list(range(30))  # a position each, half to spare
    assert made.valued == 60


def test_positions_of_all_phases_and_stakes_are_drawn(some):
    twice = Questions.join([some, some])
    assert len(twice) == 2 * len(some)
    assert twice.valued == 2 * some.valued
    few = draw_evenly(twice, len(PHASES), seed=1)
    assert len(few) == len(PHASES)
    phases = np.bincount(some.phase(), minlength=4)
    assert len(np.unique(few.phase())) >= min(3, (phases > 0).sum())
    # All actions are played out in the same worlds, so a lead is a difference of points.
    rows = np.arange(len(some))
    gap = some.points[rows, some.best][:, None] - some.points
    assert some.lead == pytest.approx(gap, abs=1e-9, nan_ok=True)


def test_the_command_writes_tables_and_a_page(some, tmp_path, capsys):
    path = str(tmp_path / "exam.npz")
    some.save(tmp_path / "exam.npz", {"seed": 5})
    told, written = tmp_path / "told.json", tmp_path / "page.html"
    words = ["take", "greedy", "random", "--exam", path, "--json", str(told)]
    words += ["--html", str(written)]
    assert exam.main(words) == 0
    shown = capsys.readouterr().out
    assert exam.main([*words, "--workers", "2"]) == 0
    assert capsys.readouterr().out == shown
    assert f"{len(some)} positions" in shown
    assert "exact posterior" in shown
    found = {one["name"]: one for one in json.loads(told.read_text())["agents"]}
    assert found["greedy"]["points_lost"]["mean"] < found["random"]["points_lost"]["mean"]
    html = written.read_text()
    before, rest = html.split("part</h2>")
    parted, misread = rest.split("misreads most</h2>")
    assert "<details" not in before  # no group of so few positions is a weakness
    assert 0 < parted.count("<details") <= 20
    assert re.search(r"has a \w+ with probability [01]\.\d\d; exact: [01]\.\d\d; by", misread)
    assert any(f"<p>{principle.sentence}</p>" in parted for principle in PRINCIPLES)
    assert "champion" in html
    assert "://" not in html.replace("http://www.w3.org", "")
    with pytest.raises(SystemExit):
        exam.main(["make", "-o", path, "--positions", "0"])


def planted(questions, lead_loss):
    """Returns answers that lose some points at each lead, and half a point elsewhere."""
    best, *_ = controls(questions)
    is_lead = questions.kind() == QUESTION_KINDS.index("lead")
    return replace(best, name="mine", control=False, lost=np.where(is_lead, lead_loss, 0.5))


def test_a_planted_weakness_is_the_first_of_the_page_and_the_terminal():
    exam_questions = Questions.load()
    mine, champion = planted(exam_questions, 9.0), take("champion", exam_questions)
    sheet = Sheet(exam_questions, (mine,), (champion,), controls(exam_questions))
    first, *others = weaknesses.weaknesses(sheet, mine)
    assert first.group.name == "lead"
    assert first.share_of_loss == pytest.approx(
        mine.lost[first.group.members].sum() / mine.lost.sum()
    )
    assert first.positions == first.group.members.sum()
    assert (mine.lost[first.costliest] == 9).all()
    assert dict(first.lost)["mine"] == pytest.approx(9)
    # A group of leads only, such as a principle of leads, is not named again.
    assert all(not weakness.group.members[first.group.members].all() for weakness in others)
    lines = terminal(sheet).splitlines()
    assert lines[0].startswith("mine loses")
    assert "1. lead" in "\n".join(lines[:8])
    html = page.html(sheet, "goita exam take mine")
    assert html.index("lead: ") < html.index(f"{len(exam_questions)} positions")
    assert html.split("</section>")[0].count("<details") >= page.BOARDS_SHOWN
    # An agent that is better than the references everywhere has nothing to fix.
    perfect = replace(mine, lost=np.zeros(len(exam_questions)))
    assert weaknesses.weaknesses(replace(sheet, agents=(perfect,)), perfect) == []


def test_the_interval_over_tables_is_used_where_it_is_wider():
    table = np.repeat(np.arange(8), 50)
    rng = np.random.default_rng(1)
    alike = rng.normal(size=400)
    assert score_interval(alike, table).mean == pytest.approx(alike.mean())
    apart = alike + 3 * table
    over_positions, shown = mean_interval(apart), score_interval(apart, table)
    assert shown.high - shown.low > 3 * (over_positions.high - over_positions.low)
    means = apart.reshape(8, 50).mean(axis=1)
    half = 2.3646 * means.std(ddof=1) / np.sqrt(8)  # Student's t, seven degrees of freedom
    assert shown.high - shown.mean == pytest.approx(half, rel=1e-4)
    assert score_interval(apart, table // 4) == mean_interval(apart)  # two tables are too few


def test_an_action_that_does_not_lead_each_other_one_is_not_clearly_best():
    nan = np.nan
    leads, errors = (
        np.array([[0, 5.0, 9.0, nan], [0, 5.0, 1.0, nan], [0, 5.0, 0, nan], [0, 0, 0, nan]]),
        np.array([[0, 1.0, 5.0, nan], [0, 1.0, 0.4, nan], [0, 1.0, 0, nan], [0, 0, 0, nan]]),
    )
    # The first row leads one action by 1.8 standard errors; in the third one action is its equal.
    assert questions.clear_lead(leads, errors).tolist() == [False, True, True, False]


def test_answers_are_kept_and_an_exam_resumes(some, tmp_path, monkeypatch, capsys):
    some.save(tmp_path / "exam.npz", {"seed": 5})
    words = ["take", "greedy", "--exam", str(tmp_path / "exam.npz"), "--no-beliefs"]
    words += ["--results", str(tmp_path / "answers.db")]
    monkeypatch.setattr(answers, "POSITIONS_PER_TASK", 3)
    asked, answer_task = [], answers.answer_task

    def stops(task):
        asked.append(task)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return answer_task(task)

    monkeypatch.setattr(answers, "answer_task", stops)
    assert exam.main(words) == 130
    assert exam.main(words) == 0
    assert len(asked) == 3 * -(-len(some) // 3) + 1  # each part of three agents once, one again
    shown = capsys.readouterr().out
    assert "Knowledge" not in shown
    monkeypatch.setattr(answers, "answer_task", None)
    assert exam.main(words) == 0
    assert capsys.readouterr().out == shown
    with pytest.raises(SystemExit):
        exam.main([*words, "--seed", "1"])
    assert "seed 0, now 1" in capsys.readouterr().err


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
    assert found.leads_clearly().all()
    assert len(np.unique(found.table())) == len(making.TABLES)
    assert len(np.unique(found.match)) > 250
    assert found.exact.min() >= 0
    assert found.exact.max() <= 1 + 1e-6


def test_the_beliefs_that_are_kept_are_those_of_the_agents():
    found = Questions.load()
    few = found.select(np.arange(0, 600, 150))
    for model in STORED_MODELS:
        stored = few.stored_beliefs(model)
        computed, source = answers.beliefs(load_agent(model), few.view())
        assert stored == pytest.approx(computed, abs=1e-6)
        assert source == f"all others play as {model}"
    assert found.stored_beliefs("greedy") is None


@pytest.mark.parametrize("model", STORED_MODELS)
def test_the_shipped_beliefs_of_a_model_that_has_changed_are_not_used(monkeypatch, model):
    """If this fails because the rules of a bot were edited: python tools/exam_models.py."""
    shipped = Questions.load()
    assert shipped.stored_beliefs(model) is not None
    monkeypatch.setattr(questions, "model_digest", lambda model: "other rules")
    assert shipped.stored_beliefs(model) is None
    assert replace(shipped, about={}).stored_beliefs(model) is None
