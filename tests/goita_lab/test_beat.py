"""A program is played, imitated and searched against, and a stop loses nothing."""

import json

import pytest

from goita_lab.arena.tournament.arena import Tournament
from goita_lab.commands import beat
from programs import refusal

WORDS = ["rival=greedy", "--deals", "16", "--measured", "2", "--seed", "7"]


def test_a_stopped_command_goes_on_and_measures_on_fresh_deals(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "rival"
    learned = []

    def stop(games, output, **options):
        learned.append((games, options["player"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(beat, "learn", stop)
    with pytest.raises(KeyboardInterrupt):
        beat.main([*WORDS, "-o", str(folder)])
    assert learned == [([folder / "games"], "rival")]
    monkeypatch.undo()
    played = []
    play = Tournament.play

    def noted(self, **options):
        left = self.deals_left()
        play(self, **options)
        played.append((self.plan.seed, left))

    monkeypatch.setattr(Tournament, "play", noted)
    assert beat.main([*WORDS, "-o", str(folder)]) == 0
    assert played == [(7, 0), (8, 4)]  # the games to learn from were there
    out = capsys.readouterr().out
    assert "its search with the model against rival" in out
    assert "--opponents greedy" in out
    assert "a rough one" in out
    found = json.loads((folder / "result.json").read_bytes())["figures"]
    assert found["gain"]["mean"] == pytest.approx(
        found["search"]["mean"] - found["champion"]["mean"]
    )
    assert found["champion"]["mean"] > 0
    assert "rival" in (folder / "report.html").read_text(encoding="utf-8")
    before = (folder / "model.safetensors").read_bytes()
    assert beat.main([*WORDS, "-o", str(folder)]) == 0
    assert played[2:] == [(7, 0), (8, 0)]
    assert (folder / "model.safetensors").read_bytes() == before
    # A model that was learned from other games, as of the program before it changed.
    model = json.loads((folder / "model.json").read_bytes())
    (folder / "model.json").write_text(json.dumps(model | {"source_digests": ["0" * 64]}))
    monkeypatch.setattr(beat, "learn", stop)
    with pytest.raises(KeyboardInterrupt):
        beat.main([*WORDS, "-o", str(folder)])
    assert len(learned) == 2


@pytest.mark.parametrize(
    ("words", "folder", "message"),
    [
        (["greedy"], "x;y", "expected a folder whose name can stand in an agent's text, got ';'"),
        (["greedy"], "x)", "got ')'"),
        (["greedy", "--seed", "-1"], "x", "expected a seed from 0"),
        (["greedy", "--seed", str(2**64 - 1)], "x", "expected a seed from 0"),
        (["nobody"], "x", "expected an agent of"),
    ],
)
def test_what_is_wrong_is_refused_and_leaves_nothing(words, folder, message, tmp_path, capsys):
    assert message in refusal(capsys, beat.main, [*words, "-o", str(tmp_path / folder)])
    assert list(tmp_path.iterdir()) == []
