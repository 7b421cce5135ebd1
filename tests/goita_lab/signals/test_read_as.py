"""One agent read as another: the option of every measure."""

from goita_lab.commands.signals import main
from goita_lab.signals.listening import POLICY, listen
from goita_lab.signals.plan import _models, quick
from goita_lab.signals.playing import play
from goita_lab.signals.settings import Settings
from goita_lab.signals.worth import worth

AS_GREEDY = Settings(read_as="greedy")


def test_models_are_the_agents_own_unless_it_is_read_as_another():
    assert Settings().models("random")[POLICY].name == "random (epsilon=0.02)"
    assert AS_GREEDY.models("random")[POLICY].name == "greedy (epsilon=0.02)"
    own, other = (one.arguments(["random"]) for one in (Settings(), AS_GREEDY))
    assert own["files"].keys() == {"random"}
    assert other["files"].keys() == {"random", "greedy"}


def test_a_wrong_model_is_charged_for_what_it_misreads():
    right, wrong = (
        worth(["random"], "first_lead", 4, controls=(), settings=one)[0]
        for one in (Settings(), AS_GREEDY)
    )
    assert right.told == right.content.told
    assert wrong.told == wrong.content.gained
    assert wrong.told.mean < 0 < wrong.content.told.mean


def test_a_listener_reads_all_seats_as_the_agent():
    played = play(["random"], 1)
    _, known = listen(played, AS_GREEDY.models("random"), told=False)
    _, same = listen(played, Settings().models("greedy"), told=False)
    assert (known.log_probability == same.log_probability).all()


def test_a_report_keeps_the_agents_own_model_beside_the_one_that_it_is_read_as(monkeypatch):
    monkeypatch.setattr("goita_lab.signals.plan._tree", lambda *_: "random")
    found = _models(quick(("random", "greedy"), read_as="greedy"), "random")
    assert found[POLICY].name == "greedy (epsilon=0.02)"
    assert found["random"].name == "random (epsilon=0.02)"


def test_a_measure_says_in_its_text_and_its_json_whom_it_reads(tmp_path, capsys):
    file, words = tmp_path / "it.json", ["passes", "r=random", "--deals", "2"]
    assert main([*words, "--read-as", "g=greedy", "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("All seats are read as g.")
    assert "passes worth? r, 2 deals" in shown
    assert '"read_as": "g=greedy"' in file.read_text()
