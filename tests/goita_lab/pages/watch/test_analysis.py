"""Analyses: figures as solver, search and listener tell them; errors, going on, JSON, pages."""

import json
import os
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from record_samples import FIVE, LINE, YAML
from samples import slow

pytest.importorskip("numba")

from goita_agents import load_agent, solver
from goita_agents.beliefs.hindsight import likelihoods
from goita_agents.beliefs.match_priors import LEAKAGE, MatchPriors
from goita_agents.beliefs.people import people
from goita_agents.beliefs.types import TypeListener
from goita_agents.search.action_values import evaluate_actions
from goita_agents.search.rollout import players_of
from goita_agents.search.sampling import SampledWorlds, TypedWorlds
from goita_agents.search.typed_search import COUNTING_SHARE, FEWER_WORLDS, clear_min_z
from goita_env import Game, actions, records
from goita_env.records import DealRecord
from goita_lab.commands.watch import main
from goita_lab.pages import watch
from goita_lab.pages.watch import analysis as analysing
from goita_lab.pages.watch import decisions as verdicts
from goita_lab.pages.watch import frames
from goita_lab.pages.watch.analysis import AnalysisSettings, analyse_deal, decision_seed, key_of
from goita_lab.pages.watch.decisions import ActionGrade, Decision
from goita_lab.pages.watch.reading import Source, Watched

DOCS = Path(__file__).resolve().parents[4] / "docs" / "reference" / "analysis.md"
TWO = ("greedy", "random")
QUICK = AnalysisSettings("greedy", worlds=16, types=TWO)
FEW = {"types": ("greedy",)}
"""Types that cost little."""
CHEAP = replace(QUICK, worlds=8, **FEW)
DEAL = records.history.loads(LINE).deals[0]
ONE = replace(DEAL, moves=DEAL.moves[:1])
NAMES = ("north", "</script>west", "", "")


def source(*deals: DealRecord, players=NAMES) -> Source:
    return Source("a game", tuple(Watched(deal, players) for deal in deals), len(deals))


def games(deal: DealRecord) -> list[Game]:
    """The game before each move, each by itself."""
    found = []
    for move in range(len(deal.moves)):
        *_, last = [None, *replace(deal, moves=deal.moves[:move]).replay()]
        begun = Game(deal.rules, hands=deal.hands, dealer=deal.dealer, scores=deal.scores, seed=0)
        found.append(last or begun)
    return found


@pytest.fixture(scope="module")
def decisions():
    return analyse_deal(DEAL, QUICK)


@pytest.fixture(scope="module")
def analysed():
    found = source(DEAL, replace(DEAL, number=2, moves=DEAL.moves[:5]))
    return found, watch.analyse(found, "greedy", worlds=16, **FEW)


def test_every_move_is_there_and_forced_ones_are_not_judged(decisions):
    assert [one.move for one in decisions] == list(range(1, 14))
    assert [(one.seat, one.action) for one in decisions] == [
        (seat, actions.name(action)) for seat, action in DEAL.moves
    ]
    for one, game in zip(decisions, games(DEAL), strict=True):
        legal = game.legal_actions()
        assert len(one.options) == (len(legal) if len(legal) > 1 else 0)
        assert one.options or (one.loss, one.best, one.expected) == (0, one.action, None)
    assert {verdicts.verdict(one) for one in decisions if not one.options} == {"forced"}


def test_open_values_are_those_of_the_solver(decisions):
    for one, game in zip(decisions, games(DEAL), strict=True):
        values = {actions.name(a): v for a, v in solver.Solver().values(game).items()}
        assert one.open_value == max(values.values())
        assert one.open_loss == max(values.values()) - values[one.action]
        assert {o.action: o.open for o in one.options} == (values if one.options else {})


def test_points_are_those_of_the_search_and_the_policy_is_the_agents(decisions):
    agent, types = load_agent("greedy"), people(TWO)
    for one, game in list(zip(decisions, games(DEAL), strict=True))[::4]:
        if not one.options:
            continue
        view = game.view(one.seat)
        legal = view.legal()
        chances = agent.probabilities(view, legal)[0]
        assert [o.probability for o in one.options] == chances[legal[0]].tolist()
        # A listener that begins anew draws the same worlds, but is no more exact than 1e-5.
        seed = decision_seed(0, game)
        seeds, played = np.array([seed], np.uint64), np.array([actions.parse(one.action)])
        listener = TypeListener(view, types)
        probability = listener.probability().sum(axis=1)
        (possible,) = np.nonzero(probability)
        share, found = probability[possible], []
        for number in possible.tolist():
            counts = share.max() == probability[number] or probability[number] > COUNTING_SHARE
            count = QUICK.worlds // (1 if counts else FEWER_WORLDS)
            drawn = listener.sample(count, np.random.default_rng(seed), number)
            values = evaluate_actions(
                view,
                legal,
                players_of(agent, types),
                SampledWorlds.join([TypedWorlds(*drawn)]),
                prior_action=played,
                seeds=seeds,
                allocation="halving",
            )
            found.append(values)
        points = share @ [values.points for values in found]
        assert [o.points for o in one.options] == pytest.approx(points, abs=1e-3)
        error = np.sqrt(share**2 @ [values.error**2 for values in found])
        assert [o.error for o in one.options] == pytest.approx(error, abs=1e-3)
        assert [o.worlds for o in one.options] == sum(v.worlds for v in found).tolist()
        best = np.array([actions.parse(one.best)])
        leads = [[float(x[0]) for x in values.lead(best, played)] for values in found]
        loss, error = np.transpose(leads)
        assert one.loss == pytest.approx(max(0, share @ loss), abs=1e-3)
        assert one.loss_error == pytest.approx(np.sqrt(share**2 @ error**2), abs=1e-3)


def ten_deals() -> list[DealRecord]:
    """Of ten human records, where there are some, else of bots; the first deal of each."""
    if folder := os.environ.get("GOITA_KIFU"):
        files = sorted(Path(folder).glob("*.yaml"))[:10]
        texts = [file.read_text(encoding="utf-8") for file in files]
        return [records.kifu.loads(text, strict=False).deals[0] for text in texts]
    agent, deals = load_agent("heuristic"), []
    for seed in range(10):
        game, rng = Game(seed=seed), np.random.default_rng(seed)
        while not game.done:
            view = game.view(game.seat)
            game.play(int(agent.act(view, view.legal(), rng)[0]))
        deals.append(records.from_game(game).deals[0])
    return deals


@pytest.mark.parametrize("deals", [lambda: [DEAL], slow(ten_deals)])
def test_what_is_said_of_a_decision_does_not_depend_on_later_moves(deals):
    settings = replace(QUICK, worlds=4, **FEW)
    for cut, deal in enumerate(deals(), 3):
        before = analyse_deal(replace(deal, moves=deal.moves[:cut]), settings)
        assert len(before) >= min(cut, len(deal.moves))
        assert analyse_deal(deal, settings)[: len(before)] == before


def test_the_champion_tells_its_value_and_is_shown_warm():
    short = replace(DEAL, moves=DEAL.moves[:2])
    found = watch.analyse(source(short), "champion", worlds=8, **FEW)
    (one, two) = found.deals[0]
    game = games(short)[1]
    agent = load_agent("champion")
    assert two.value == pytest.approx(agent.values(game.view(3))[0])
    warm = agent.at(1.0).probabilities(game.view(3), game.view(3).legal())[0]
    assert [o.probability for o in two.options] == warm[game.view(3).legal()[0]].tolist()
    assert found.policy == "champion at temperature 1"
    assert one.value != two.value


def test_questions_before_play_are_searched_but_have_no_open_value():
    game = Game(hands=FIVE, dealer=0, seed=1)
    for move in ("call", "continue"):
        game.play(actions.parse(move))
    game.play(game.legal_actions()[-1])
    found = analyse_deal(records.from_game(game).deals[0], CHEAP)
    assert [one.phase for one in found] == ["before play", "before play", "first"]
    assert [one.open_value is None for one in found] == [True, True, False]
    assert {option.action for option in found[0].options} == {"call", "silent"}
    assert all(option.worlds and option.error > 0 for option in found[0].options)


def test_a_deal_that_ended_in_a_redeal_is_analysed_up_to_it():
    game = Game(hands=FIVE, dealer=0, seed=1)
    for move in ("call", "redeal"):
        game.play(actions.parse(move))
    (redealt, *_) = records.from_game(game).deals
    found = analyse_deal(redealt, CHEAP)
    assert [(one.move, one.seat, one.action) for one in found] == [(1, 0, "call"), (2, 2, "redeal")]
    assert {option.action for option in found[1].options} == {"redeal", "continue"}


def decision(loss: float, error: float, choices: int = 3, **other) -> Decision:
    """A decision of a seat that had so many choices."""
    options = tuple(
        ActionGrade(f"1{n}", 1 / choices, 0.0, 1.0, 8, 0) for n in range(1, choices + 1)
    )
    values = {"move": 1, "seat": 0, "action": "11", "phase": "first", "best": "12", "value": None}
    values |= {"open_value": 30, "open_loss": 50, "options": options}
    values |= {"loss": loss, "loss_error": error, **other}
    return Decision(**{"rival": values["action"], "deciding": (), "principle": ""} | values)


def played_with(probability: float, loss: float, error: float = 1.0, **other) -> Decision:
    """A decision whose move has so much of the policy's probability, of three actions."""
    shares = (probability, *[(1 - probability) / 2] * 2)
    options = tuple(ActionGrade(f"1{n}", p, 0.0, 1.0, 8, 0) for n, p in enumerate(shares, 1))
    return decision(loss, error, options=options, **other)


@pytest.mark.parametrize(
    ("one", "verdict", "agrees"),
    [
        (decision(0, 0), "best", False),
        (decision(1, 1), "level", False),
        (decision(1.5, 1), "close", False),
        (decision(1.97, 1), "clear", False),
        (decision(1.97, 1, choices=30), "close", False),
        (decision(9, 1, options=()), "forced", False),
        (decision(0, 0, open_loss=80), "best", False),  # a loss against open hands is no error
        (played_with(0.49, 9.0), "clear", False),
        (played_with(0.5, 9.0), "shared", True),
        (played_with(1.0, 1.5), "close", True),
    ],
)
def test_verdicts_go_by_the_sampling_error_and_clear_losses_not_the_policys(one, verdict, agrees):
    assert verdicts.verdict(one) == verdict
    assert verdicts.policy_agrees(one) is agrees


@pytest.mark.parametrize(
    ("loss", "size"), [(1.97, 1), (4.99, 1), (5.0, 2), (11.99, 2), (12.0, 3), (80.0, 3)]
)
def test_errors_have_three_sizes_and_other_losses_none(loss, size):
    assert verdicts.error_size(decision(loss, 1)) == size
    assert verdicts.error_size(decision(loss, loss)) == 0
    assert verdicts.error_size(played_with(0.5, loss)) == 0


def test_a_viewer_is_told_of_the_own_choices_alone(analysed):
    found, analysis = analysed

    def summaries(viewer: int | None, language: str = "en") -> list[str]:
        text = watch.page(found, analysis, viewer, language)
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
        return data["analysis"]["summaries"]

    judged = verdicts.judge(found.deals, analysis.deals)
    (own,) = (row for row in verdicts.totals(judged, by_seat=True) if row.name == "seat 2")
    share = round(100 * own.likeliest / own.decisions)
    lost = f"{own.clear} error{'s' * (own.clear != 1)}, {own.lost:.0f} points lost."
    told = f"You: {share} % of your choices are the first choice of greedy; {lost}"
    assert summaries(2) == [told]
    assert len(summaries(None)) == 4
    assert summaries(2, "ja")[0].startswith(f"自分：選んだ手の{share}％がgreedyの第一候補。")


def test_sums_leave_forced_moves_out_and_count_errors_alone(analysed):
    source, analysis = analysed
    judged = verdicts.judge(source.deals, analysis.deals)
    sums = verdicts.totals(judged)
    chosen = [one for one in judged if one.decision.options]
    assert [row.name for row in sums] == ["</script>west", "north", "seat 2", "seat 3"]
    assert sum(row.decisions for row in sums) == len(chosen)
    assert sum(row.clear + row.shared + row.close + row.level for row in sums) == len(chosen)
    assert sum(row.open_lost for row in sums) == sum(one.decision.open_loss for one in chosen)
    lost = sum(one.decision.loss for one in chosen if one.verdict == "clear")
    assert sum(row.lost for row in sums) == pytest.approx(lost)
    assert sum(row.clear for row in sums) > 0
    # What decides parts the lead of one action over another: the two leads average to it.
    seen = 0
    for one in (one.decision for one in judged if one.decision.options):
        assert one.action in (one.rival, one.best)
        for it in one.deciding:
            assert it.seat != one.seat
            if one.rival == one.action:
                mean = it.probability * it.held + (1 - it.probability) * it.missing
                assert mean == pytest.approx(one.loss, abs=1e-6)
                seen += 1
    assert seen > 5
    for choices in (2, 5, 32):  # of decisions that lost nothing one in twenty is called clear
        luck = np.random.default_rng(0).normal(size=(20_000, choices - 1)).max(axis=1)
        assert (luck > clear_min_z(choices)).mean() < 0.05 + 3 * np.sqrt(0.05 / 20_000)


def kept_in(file):
    return sqlite3.connect(file).execute("SELECT key, value FROM parts").fetchall()


def test_a_stopped_analysis_goes_on_and_says_the_same(tmp_path, monkeypatch):
    seat = DEAL.moves[0][0]
    two = source(ONE, replace(ONE, number=2, moves=((seat, games(DEAL)[0].legal_actions()[0]),)))
    whole = watch.analyse(two, "greedy", worlds=8, **FEW)
    keep, seen = tmp_path / "page.html.parts", []

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch.analyse(two, "greedy", worlds=8, **FEW, keep=keep, progress=stop)
    assert len(kept_in(keep)) == 1

    def noting(deal: DealRecord, settings: AnalysisSettings, priors):
        analysed_now.append(deal.number)
        return analyse_deal(deal, settings, priors)

    analysed_now: list[int] = []
    monkeypatch.setattr(analysing, "analyse_deal", noting)
    note = {"keep": keep, "progress": lambda *n: seen.append(n)}
    assert watch.analyse(two, "greedy", worlds=8, **FEW, **note) == whole
    assert seen == [(1, 2), (2, 2)]
    assert analysed_now == [2]


def test_after_each_deal_the_analysis_so_far_is_that_of_all_without_the_missing_deals():
    other = replace(ONE, moves=((DEAL.moves[0][0], games(DEAL)[0].legal_actions()[0]),))
    three, partial = source(ONE, other, replace(ONE, dealer=DEAL.dealer)), []
    whole = watch.analyse(three, "greedy", worlds=8, **FEW, partial_analysis=partial.append)
    # The first and the third deal are one task, so one analysis lacks a deal.
    (first,) = partial
    assert (first.missing, whole.missing) == ({1}, frozenset())
    assert first.deals == (whole.deals[0], (), whole.deals[0])
    assert first.origin == whole.origin
    text = watch.page(three, first, viewer=0)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert [moves is None for moves in data["analysis"]["deals"]] == [False, True, False]


def test_the_command_leaves_page_and_json_alone(tmp_path, capsys):
    record, page, told = (tmp_path / name for name in ("game.yaml", "page.html", "told.json"))
    record.write_text(YAML, encoding="utf-8")
    command = [str(record), "--analyse", "greedy", "-o", str(page), "--json", str(told)]
    assert main([*command, "--worlds", "8"]) == 0
    assert capsys.readouterr().out == f"{page}: 1 deal\n"
    assert json.loads(told.read_text(encoding="utf-8"))["worlds"] == 8
    assert {file.name for file in tmp_path.iterdir()} == {"game.yaml", "page.html", "told.json"}


def test_earlier_rounds_of_the_match_are_read_and_count(tmp_path):
    bot = load_agent("greedy")

    def played(seed: int, scores: tuple[int, int]) -> DealRecord:
        game = Game(seed=seed, scores=scores)
        while not game.done:
            view = game.view(game.seat)
            game.play(int(bot.act(view, view.legal(), np.random.default_rng(0))[0]))
        return records.from_game(game).deals[0]

    one = played(3, (0, 0))
    two = played(4, one.result().scores)
    match = [one, two, played(5, two.result().scores), played(6, (0, 0))]
    file = tmp_path / "match.json"
    file.write_text(records.complete.dumps(records.Record(tuple(match))), encoding="utf-8")
    found = watch.read(str(file)).deals
    assert [one.earlier for one in found] == [(), (match[0],), tuple(match[:2]), ()]
    (alone,) = watch.read(str(file), deals="3").deals
    assert alone == found[2]
    assert key_of(two, [one]) != key_of(two)
    # The same priors as of a hint: what a round showed, with what might have changed meanwhile.
    types = people(TWO)
    first, known = types.prior(), MatchPriors(types)
    *_, game = one.replay()
    for seat, found in enumerate(known.after([one])):
        hands = np.roll(game.dealt, -seat, axis=0).astype(np.int64)
        likely = first * np.exp(likelihoods(game.view(seat), types, hands).likelihood)
        np.testing.assert_allclose(found, (1 - LEAKAGE) * likely / likely.sum() + LEAKAGE * first)
    begun, later = (analyse_deal(two, QUICK, priors) for priors in (None, known.after([one])))
    assert [one.loss for one in begun] != [one.loss for one in later]


def test_json_holds_what_its_page_says(analysed):
    told = watch.to_json(*analysed)
    assert json.loads(json.dumps(told)) == told
    deal, first = told["deals"][0], told["deals"][0]["decisions"][0]
    tables = told, deal, first, first["options"][0]
    decisions = [one for deal in told["deals"] for one in deal["decisions"]]
    deciding = next(one["deciding"] for one in decisions if one["deciding"])
    tables += told["totals"][0], deciding[0]
    keys = set().union(*tables)
    documented = set(re.findall(r"^\| `(\w+)`", DOCS.read_text(encoding="utf-8"), re.MULTILINE))
    assert keys == documented
    assert told["format"] == "goita-analysis-11"
    assert (deal["result"], told["deals"][1]["result"]) == (30, None)
    assert deal["players"] == list(NAMES)
    assert [one["deal"] for one in told["deals"]] == [1, 2]
    assert first["verdict"] in ("best", "level", "close", "clear", "shared")


def test_the_page_shows_the_analysis_and_a_plain_one_has_none_of_it(analysed):
    found, analysis = analysed
    text, plain = watch.page(found, analysis), watch.page(found)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert "analysing" not in plain.partition('id="data"')[0]
    assert data["analysis"]["deals"][0]["1"]["action"] == "46"
    for one in verdicts.errors(verdicts.judge(found.deals, analysis.deals)):
        assert f'<a href="#{one.deal}.{one.decision.move}">' in text
    assert "</script>west" not in text.replace("\\u003c", "<").partition('id="data"')[0]
    assert text.count("<script") == 3
    assert not re.search(r"https?://(?!www\.w3\.org)|@import|url\(", text)
    script = (Path(watch.__file__).parent / "templates" / "analysis.js").read_text(encoding="utf-8")
    asked = set(re.findall(r'find\("(\w+)"\)', script))
    assert len(asked) >= 8
    assert asked <= set(re.findall(r'id="(\w+)"', text))


def test_a_graph_marks_every_decision_and_every_error(decisions):
    drawn = frames.draw_graph(decisions, 13, 30)
    root = ElementTree.fromstring(f"<svg>{drawn['svg']}</svg>")
    kinds = [one.get("class") for one in root]
    errors = [one for one in decisions if verdicts.verdict(one) == "clear"]
    assert kinds.count("dot search") == sum(bool(one.options) for one in decisions)
    assert kinds.count("mark") == kinds.count("bar error") == len(errors) > 0
    assert kinds.count("result") == 1
    moves = ", ".join(str(one.move) for one in errors)
    assert f"Errors at moves {moves}" in drawn["label"]
    assert drawn["label"].endswith("The round ended with +30.")
    own = ElementTree.fromstring(
        f"<svg>{frames.draw_graph(decisions, 13, 30, viewer=0)['svg']}</svg>"
    )
    marked = [one for one in own if one.get("class") == "mark"]
    assert len(marked) == sum(one.seat == 0 for one in errors) < len(errors)
    empty = frames.draw_graph((), 0, None)
    assert "No points" in empty["label"]
    assert "NaN" not in empty["svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "x.json"], "expected --analyse AGENT with --json"),
        (["--analyse", "greedy", "-o", "x.svg"], "expected a page as output of --analyse"),
        (
            ["--analyse", "greedy", "-o", "x", "--json", "./x"],
            "expected another file for each output",
        ),
        (["--analyse", "solver"], "known probabilities and no memory"),
        (["--analyse", "inconsistent_agents:ByBatch"], "that depend only on the view"),
        (["--analyse", "champion:search=on"], "its base"),
        (["--analyse", "nobody"], "expected an agent of"),
        (["--analyse", "greedy", "--workers", "0"], "expected 1 to 1,024 workers"),
        (["--analyse", "greedy", "--worlds", "0"], "expected worlds=1 to"),
    ],
)
def test_wrong_options_are_refused(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([LINE, *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
