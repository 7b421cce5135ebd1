"""Analyses: figures as solver, search and listener tell them; errors, going on, JSON, pages."""

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest
from record_samples import FIVE, LINE, YAML

pytest.importorskip("numba")

import evaluate
from agents import load_agent, solver, watch
from agents.base import AgentError
from agents.beliefs import Assumed, Listener, follow
from agents.parts import Parts, pack, unpack
from agents.search.drawing import TREMBLE
from agents.search.hearing import Hearing
from agents.search.pricing import price
from agents.store import Block
from agents.watch import graph, judging, running
from agents.watch.analysis import analyse_deal, decision_seed, key_of
from agents.watch.decisions import Decision, Option, Settings
from agents.watch.reading import Source, Watched, read
from goita_env import Game, actions, records
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_env.tiles import NUM_KINDS

DOCS = Path(__file__).resolve().parents[3] / "docs" / "analysis.md"
QUICK = Settings("greedy", worlds=32)
DEAL = records.history.loads(LINE).deals[0]
SHORT = replace(DEAL, moves=DEAL.moves[:3])
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
    return found, watch.analyse(found, "greedy", worlds=32)


# ------------------------------------------------------------------------ figures and their sources


def test_every_move_is_there_and_forced_ones_are_not_judged(decisions):
    assert [one.move for one in decisions] == list(range(1, 14))
    assert [(one.seat, one.action) for one in decisions] == [
        (seat, actions.name(action)) for seat, action in DEAL.moves
    ]
    for one, game in zip(decisions, games(DEAL), strict=True):
        legal = game.legal_actions()
        assert len(one.options) == (len(legal) if len(legal) > 1 else 0)
        assert one.options or (one.loss, one.best, one.expected) == (0, one.action, None)
    assert {judging.verdict(one) for one in decisions if not one.options} == {"forced"}


def test_open_values_are_those_of_the_solver(decisions):
    for one, game in zip(decisions, games(DEAL), strict=True):
        values = {actions.name(a): v for a, v in solver.Solver().values(game).items()}
        assert one.open_value == max(values.values())
        assert one.open_loss == max(values.values()) - values[one.action]
        assert {o.action: o.open for o in one.options} == (values if one.options else {})


def test_points_are_those_of_the_search_and_the_policy_is_the_agents(decisions):
    agent = load_agent("greedy")
    for one, game in list(zip(decisions, games(DEAL), strict=True))[::4]:
        if not one.options:
            continue
        view = game.view(one.seat)
        legal = view.legal()
        chances = agent.probabilities(view, legal)[0]
        assert [o.probability for o in one.options] == chances[legal[0]].tolist()
        # A listener that begins anew draws the same worlds as one that is kept.
        settings = {"worlds": 32, "seed": decision_seed(0, key_of(DEAL), one.move)}
        prices = price(
            agent,
            view,
            legal,
            actions.parse(one.action),
            hearing=Hearing(agent, TREMBLE),
            **settings,
        )
        assert [o.points for o in one.options] == prices.points.tolist()
        assert [o.error for o in one.options] == prices.error.tolist()
        assert (one.loss, one.loss_error) == (prices.loss, prices.loss_error)


def test_what_a_partner_could_know_is_what_its_listener_believes(decisions):
    rival = Assumed("greedy", tremble=TREMBLE[1])
    assumed = {"next": rival, "partner": Assumed("greedy", tremble=0.5), "previous": rival}
    for seat in range(4):
        partner = (seat + 2) % 4
        hand = np.bincount([int(d) - 1 if d != "9" else 7 for d in DEAL.hands[seat]], minlength=8)
        # Nobody called five pawns: that, too, is known before the first lead.
        before = Listener(games(DEAL)[0].view(partner), assumed).posterior("partner")
        for (_, listener), one in zip(follow(DEAL, partner, assumed), decisions, strict=True):
            now = listener.posterior("partner")
            if one.seat == seat:
                some = now.probability > 0
                told = np.log(now.probability[some] / before.probability[some])
                assert one.heard.told == pytest.approx(now.probability[some] @ told)
                assert one.heard.entropy == pytest.approx((before.entropy(), now.entropy()))
                assert one.heard.expected[1] == pytest.approx(now.expected())
                assert one.heard.at_least_one[0] == pytest.approx(before.at_least(1))
                real = before.log_probability(hand), now.log_probability(hand)
                assert one.heard.log_probability == pytest.approx(real)
            before = now
    assert len(decisions[0].heard.expected[0]) == NUM_KINDS


def test_the_champion_tells_its_value_and_is_shown_warm():
    short = replace(DEAL, moves=DEAL.moves[:2])
    found = watch.analyse(source(short), "champion", worlds=8)
    (one, two) = found.deals[0]
    game = games(short)[1]
    agent = load_agent("champion")

    assert two.value == pytest.approx(agent.values(game.view(3))[0])
    warm = agent.at(1.0).probabilities(game.view(3), game.view(3).legal())[0]
    assert [o.probability for o in two.options] == warm[game.view(3).legal()[0]].tolist()
    assert found.policy == "champion at temperature 1"
    assert found.assumed == "champion (temperature=1, tremble=0.5)"
    assert one.value != two.value


def test_questions_before_play_are_searched_but_have_no_open_value():
    game = Game(hands=FIVE, dealer=0, seed=1)
    for move in ("call", "continue"):
        game.play(actions.parse(move))
    game.play(game.legal_actions()[-1])
    found = analyse_deal(records.from_game(game).deals[0], QUICK)

    assert [one.phase for one in found] == ["before play", "before play", "first"]
    assert [one.open_value is None for one in found] == [True, True, False]
    assert [one.heard is None for one in found] == [True, True, False]
    assert {option.action for option in found[0].options} == {"call", "silent"}
    assert all(option.worlds and option.error > 0 for option in found[0].options)


def test_a_deal_is_analysed_as_far_as_its_moves_are_legal():
    broken = replace(DEAL, moves=(*DEAL.moves[:2], (0, actions.parse("88"))))
    whole = replace(DEAL, moves=DEAL.moves[:2])

    assert [one.move for one in analyse_deal(broken, QUICK)] == [1, 2]
    assert analyse_deal(replace(DEAL, moves=((2, actions.parse("88")),)), QUICK) == ()
    assert key_of(broken) != key_of(whole)


# --------------------------------------------------------------------------------- what is an error


def decision(loss: float, error: float, choices: int = 3, **other) -> Decision:
    options = tuple(Option(f"1{n}", 1 / choices, 0.0, 1.0, 8, 0) for n in range(1, choices + 1))
    values = {"move": 1, "seat": 0, "action": "11", "phase": "first", "best": "12", "value": None}
    values |= {"open_value": 30, "open_loss": 50, "heard": None, "options": options}
    return Decision(**{**values, "loss": loss, "loss_error": error, **other})


def test_errors_are_told_by_the_sampling_error():
    assert judging.verdict(decision(0, 0)) == "best"
    assert judging.verdict(decision(1, 1)) == "level"
    assert judging.verdict(decision(1.5, 1)) == "close"
    assert judging.verdict(decision(1.97, 1)) == "clear"
    assert judging.verdict(decision(1.97, 1, choices=30)) == "close"
    assert judging.verdict(decision(9, 1, options=())) == "forced"
    # A loss against open hands alone is none.
    assert judging.verdict(decision(0, 0, open_loss=80)) == "best"


def played_with(probability: float, loss: float, error: float = 1.0, **other) -> Decision:
    """A decision whose move has so much of the policy's probability, of three actions."""
    shares = (probability, *[(1 - probability) / 2] * 2)
    options = tuple(Option(f"1{n}", p, 0.0, 1.0, 8, 0) for n, p in enumerate(shares, 1))
    return decision(loss, error, options=options, **other)


@pytest.mark.parametrize(
    ("probability", "loss", "said", "too"),
    [
        (0.49, 9.0, "clear", False),
        (0.5, 9.0, "shared", True),
        (1.0, 9.0, "shared", True),
        (1.0, 1.5, "close", True),
        (1.0, 0.5, "level", True),
        (0.1, 1.5, "close", False),
    ],
)
def test_no_loss_is_clear_that_the_policy_would_have_made_too(probability, loss, said, too):
    one = played_with(probability, loss)
    assert judging.verdict(one) == said
    assert judging.too(one) is too
    (judged,) = judging.judge([Watched(DEAL)], [[one]])
    (total,) = judging.totals([judged])["phase"]
    assert (total.clear, total.shared) == (said == "clear", said == "shared")
    assert total.lost == (9.0 if said == "clear" else 0)


def test_a_forced_move_is_nobodys_choice():
    assert not judging.too(decision(0, 0, options=()))


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("champion", "the champion would have played this, too"),
        ("greedy", "greedy would have played this, too"),
        ("mine=greedy", "mine would have played this, too"),
    ],
)
def test_page_and_table_say_who_would_have_played_a_shared_loss(agent, said):
    found = source(SHORT)
    decisions = tuple(played_with(0.9, 9.0, move=move) for move in (1, 2, 3))
    analysis = running.Analysis(Settings(agent), "a policy", "an assumption", (decisions,))
    text = watch.page(found, analysis)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])["analysis"]
    assert data["also"] == said
    assert {one["too"] for one in data["deals"][0].values()} == {True}
    assert text.count(f"<td>{said}</td>") == 3
    assert "0 clear losses, then others" in text
    assert text.count("how the others play is the larger uncertainty") == 2
    assert {one["verdict"] for one in watch.to_json(found, analysis)["deals"][0]["decisions"]} == {
        "shared"
    }
    drawn = graph.draw(decisions, 3, None)
    assert drawn.svg.count("bar shared") == 3
    assert "no clear loss" in drawn.label


def test_of_decisions_that_lost_nothing_one_in_twenty_at_most_is_called_clear():
    rng = np.random.default_rng(0)
    for choices in (2, 5, 32):
        luck = rng.normal(size=(20_000, choices - 1)).max(axis=1)
        assert (luck > judging.threshold(choices)).mean() < 0.05 + 3 * np.sqrt(0.05 / 20_000)
    assert judging.threshold(2) == pytest.approx(NormalDist().inv_cdf(0.95))


def test_the_worst_come_first_clear_ones_then_close_ones_then_shared_ones():
    losses = [(9, 8), (3, 1), (5, 1), (0, 0), (1, 2)]
    found = [decision(loss, error, move=move) for move, (loss, error) in enumerate(losses, 1)]
    judged = judging.judge([Watched(DEAL)], [[*found, played_with(0.5, 9, 1, move=6)]])

    assert [one.decision.move for one in judging.worst(judged)] == [3, 2, 1, 6]
    assert [one.decision.move for one in judging.worst(judged, most=1)] == [3]


def test_sums_leave_forced_moves_out_and_count_clear_losses_alone(analysed):
    source, analysis = analysed
    judged = judging.judge(source.deals, analysis.deals)
    sums = judging.totals(judged)
    chosen = [one for one in judged if one.decision.options]

    assert {row.name for row in sums["player"]} == {"north", "</script>west"}
    assert [row.name for row in sums["phase"]] == ["first", "middle", "last"]
    for rows in (sums["seat"], sums["phase"]):
        assert sum(row.decisions for row in rows) == len(chosen)
        kinds = (row.clear + row.shared + row.close + row.level for row in rows)
        assert sum(kinds) == len(chosen)
        assert sum(row.open_lost for row in rows) == sum(one.decision.open_loss for one in chosen)
        lost = sum(one.decision.loss for one in chosen if one.verdict == "clear")
        assert sum(row.lost for row in rows) == pytest.approx(lost)
    assert sum(row.clear for row in sums["seat"]) > 0


# ------------------------------------------------------------------------ going on, other processes


def kept_in(file):
    return sqlite3.connect(file).execute("SELECT key, value FROM blocks").fetchall()


def test_a_stopped_analysis_goes_on_and_says_the_same(tmp_path, analysed, monkeypatch):
    source, whole = analysed
    keep, seen = tmp_path / "page.html.parts", []

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch.analyse(source, "greedy", worlds=32, keep=keep, progress=stop)
    assert len(kept_in(keep)) == 1

    todo = []
    monkeypatch.setattr(
        running, "analyse_deal", lambda deal, by: todo.append(deal) or analyse_deal(deal, by)
    )
    again = watch.analyse(
        source, "greedy", worlds=32, keep=keep, progress=lambda *n: seen.append(n)
    )
    assert again == whole
    assert seen == [(1, 2), (2, 2)]
    assert [deal.number for deal in todo] == [2]


def test_parts_with_other_settings_are_not_gone_on_with(tmp_path):
    keep, seen = tmp_path / "parts", []
    watch.analyse(source(SHORT), "greedy", worlds=16, keep=keep)
    watch.analyse(source(SHORT), "greedy", worlds=8, keep=keep, progress=lambda *n: seen.append(n))

    assert seen == [(0, 1), (1, 1)]
    with Parts(keep, "parts of an analysis", {}) as parts:
        assert len(parts.found) == 0  # of other arguments
    (arguments,) = (
        sqlite3.connect(keep).execute("SELECT value FROM meta WHERE key = 'arguments'").fetchone()
    )
    assert json.loads(arguments)["worlds"] == 8
    assert len(kept_in(keep)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["parts"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "which begins b'{'"),
        ('{"deals": {}}', "which begins"),
        ('{"format":"goita-analysis-parts-1","version":"0.2.0","deals":{}}', r"version 0\.2\.0"),
    ],
)
def test_a_file_that_holds_no_parts_is_refused_and_left_alone(tmp_path, text, message):
    (tmp_path / "parts").write_text(text)
    with pytest.raises(SettingError, match=message) as error:
        watch.analyse(source(DEAL), "greedy", worlds=8, keep=tmp_path / "parts")
    assert "\n" not in str(error.value)
    assert (tmp_path / "parts").read_text() == text


@pytest.mark.parametrize(
    "change",
    [
        lambda one: {**one, "seat": 4},
        lambda one: {**one, "action": "<script>"},
        lambda one: {**one, "phase": "<script>"},
        lambda one: {**one, "options": one["options"][:1], "best": "call"},
        lambda one: {**one, "loss": "much"},
        lambda one: {**one, "heard": {**one["heard"], "expected": [[0.0], [0.0]]}},
        lambda one: [one],
        lambda one: None,
    ],
)
def test_crafted_parts_are_refused_in_a_sentence(tmp_path, change):
    keep = tmp_path / "parts"
    watch.analyse(source(SHORT), "greedy", worlds=16, keep=keep)
    ((key, value),) = kept_in(keep)
    found = [change(one) for one in msgspec.msgpack.decode(value)]
    block = Block(key, (msgspec.msgpack.encode(found),))
    with sqlite3.connect(keep) as db:
        db.execute("UPDATE blocks SET value = ?, digest = ?", (*block.values, block.digest()))
    with pytest.raises(SettingError, match="damaged file") as error:
        watch.analyse(source(SHORT), "greedy", worlds=16, keep=keep)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("solver", "expected an agent with known probabilities and no memory.*got 'solver'"),
        ("champion:search=on", "its base"),
        ("nobody", "expected an agent of"),
    ],
)
def test_agents_that_cannot_analyse_are_refused(agent, message):
    with pytest.raises(AgentError, match=message):
        watch.analyse(source(DEAL), agent)


def test_impossible_numbers_are_refused():
    for options in ({"worlds": 0}, {"worlds": 2.5}, {"workers": 0}):
        with pytest.raises(ValueError, match="expected"):
            watch.analyse(source(DEAL), "greedy", **options)


# ----------------------------------------------------------------------------------------- the JSON


def test_json_holds_what_its_page_says(analysed):
    told = watch.to_json(*analysed)
    assert json.loads(json.dumps(told)) == told
    deal, first = told["deals"][0], told["deals"][0]["decisions"][0]
    keys = {
        *(set(told) | set(deal) | set(first) | set(first["options"][0]) | set(first["heard"])),
        *(set(told["worst"][0]) | set(told["totals"]) | set(told["totals"]["seat"][0])),
    }

    documented = set(re.findall(r"^\| `(\w+)`", DOCS.read_text(encoding="utf-8"), re.MULTILINE))
    assert keys == documented
    assert told["format"] == "goita-analysis-2"
    assert (deal["result"], told["deals"][1]["result"]) == (30, None)
    assert deal["players"] == list(NAMES)
    assert [one["deal"] for one in told["deals"]] == [1, 2]
    assert first["verdict"] in ("best", "level", "close", "clear", "shared")


def test_what_is_kept_comes_back(decisions):
    assert unpack(pack(decisions), running.Decisions) == decisions
    running._check(decisions)


# ----------------------------------------------------------------------------------------- the page


def test_the_page_shows_the_analysis_and_a_plain_one_has_none_of_it(analysed):
    found, analysis = analysed
    text, plain = watch.page(found, analysis), watch.page(found)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])

    assert "analysing" not in plain.partition('id="data"')[0]
    assert "The worst decisions" not in plain
    assert data["analysis"]["deals"][0]["1"]["action"] == "46"
    for one in judging.worst(judging.judge(found.deals, analysis.deals)):
        assert f'<a href="#{one.deal}.{one.decision.move}">' in text
    assert "</script>west" not in text.replace("\\u003c", "<").partition('id="data"')[0]
    assert text.count("<script") == 2
    assert not re.search(r"https?://(?!www\.w3\.org)|@import|url\(", text)


def test_the_script_finds_all_that_it_asks_for(analysed):
    script = Path(watch.__file__).parent / "templates" / "analysis.js"
    asked = set(re.findall(r'find\("(\w+)"\)', script.read_text(encoding="utf-8")))

    assert len(asked) > 8
    assert asked <= set(re.findall(r'id="(\w+)"', watch.page(*analysed)))


def test_a_graph_marks_every_decision_and_every_clear_loss(decisions):
    drawn = graph.draw(decisions, 13, 30)
    root = ElementTree.fromstring(f"<svg>{drawn.svg}</svg>")
    kinds = [one.get("class") for one in root]
    clear = sum(judging.verdict(one) == "clear" for one in decisions)

    assert kinds.count("dot search") == sum(bool(one.options) for one in decisions)
    assert kinds.count("mark") == kinds.count("bar clear") == clear > 0
    assert kinds.count("bar hands") == sum(one.open_loss > 0 for one in decisions)
    assert kinds.count("result") == 1
    assert f"clear losses at moves {', '.join(_clear(decisions))}" in drawn.label
    assert drawn.label.endswith("The round ended with +30.")
    empty = graph.draw((), 0, None)
    assert "unknown" in empty.label
    assert "NaN" not in empty.svg


def _clear(decisions) -> list[str]:
    return [str(one.move) for one in decisions if judging.verdict(one) == "clear"]


# -------------------------------------------------------------------------------------- the command


def test_the_command_writes_page_and_json_and_leaves_no_parts(tmp_path, capsys):
    record, page, told = (tmp_path / name for name in ("game.yaml", "page.html", "told.json"))
    record.write_text(YAML, encoding="utf-8")
    command = [str(record), "--analyse", "greedy", "-o", str(page), "--json", str(told)]

    assert watch.main([*command, "--worlds", "8", "--workers", "1"]) == 0
    assert capsys.readouterr().out == f"{page}: 1 deal\n"
    assert json.loads(told.read_text(encoding="utf-8"))["worlds"] == 8
    assert {file.name for file in tmp_path.iterdir()} == {"game.yaml", "page.html", "told.json"}


def test_a_stopped_command_says_that_it_goes_on(tmp_path, capsys, monkeypatch):
    def stop(*_, keep, **__):
        keep.write_text("parts")
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "analyse", stop)
    assert watch.main([LINE, "--analyse", "greedy", "-o", str(tmp_path / "page.html")]) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["page.html.parts"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "x.json"], "expected --analyse AGENT with --json"),
        (["--analyse", "greedy", "-o", "x.gif"], "expected a page as the analysis's output"),
        (["--analyse", "solver"], "expected an agent with known probabilities"),
        (["--analyse", "greedy", "--workers", "0"], "expected 1 worker or more"),
        (["--analyse", "greedy", "--worlds", "0"], "expected worlds=1 to"),
    ],
)
def test_wrong_options_are_refused(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        watch.main([LINE, *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_saved_games_are_analysed_too_and_redeals_do_no_harm(tmp_path, capsys):
    folder = tmp_path / "games"
    saved = ["--agents", "random", "again=random", "--deals", "2", "--save-games", str(folder)]
    assert evaluate.main(saved) == 0
    capsys.readouterr()
    found = read(str(folder), deals="1")
    analysis = watch.analyse(found, "greedy", worlds=8)
    rows = watch.to_json(found, analysis)["totals"]["player"]
    assert {row["name"] for row in rows} == set(found.deals[0].players)
    assert len(rows) == 2

    game = Game(hands=FIVE, dealer=0, seed=1)
    for move in ("call", "redeal"):
        game.play(actions.parse(move))
    (one, two) = analyse_deal(records.from_game(game).deals[0], QUICK)
    assert (one.action, two.action) == ("call", "redeal")
    assert two.heard is None
