"""Files of records in every notation, and those that are none."""

import pytest

from goita_agents.bots.greedy import GreedyAgent
from goita_env import Game, InformationStructure, MessageChannel, records
from goita_env.errors import RecordError, SettingError
from goita_env.records import Record
from goita_lab.imitate.reading import read_examples
from goita_lab.pages import watch
from goita_lab.pages.watch.frames import Book
from goita_lab.pages.watch.reading import UNFINISHED
from goita_lab.record_files import read_record, read_records
from raising import refuses
from record_samples import LINE, YAML
from research.grading.grade import play_deals

KNOWN = "expected history strings, a YAML kifu or a complete record in JSON, got"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("history", LINE.encode()),
        ("kifu.yaml", YAML.encode("utf-8-sig")),
        ("kifu.txt", f"# of a match\n---\n{YAML}".encode()),
        ("quoted.yml", YAML.replace("log:", '"log":').encode()),
        ("complete.json", records.complete.dumps(records.history.loads(LINE)).encode()),
    ],
)
def test_a_file_of_each_notation_is_read(name, content, tmp_path):
    file = tmp_path / name
    file.write_bytes(content)
    for strict in (True, False):
        record = read_record(file, strict=strict)
        assert [deal.moves for deal in record.deals] == [records.history.loads(LINE).deals[0].moves]
        assert record.problems == ()
        assert record.source == name
    own = name == "complete.json"  # other notations hold no rules
    assert read_record(file, "pagat").deals[0].rules.name == ("jga" if own else "pagat")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"{KNOWN} ''"),
        (b"hello\nlog", f"{KNOWN} 'hello'"),
        (b"log: [1", "expected YAML, got: "),
        (b'{"format": 1}', "expected a record with format 'goita-record-1', got 1"),
        (b"[" * 100, f"{KNOWN} '[[["),
    ],
)
def test_a_file_of_no_known_notation_is_refused_by_name(content, message, tmp_path):
    file = tmp_path / "game.txt"
    file.write_bytes(content)
    for strict in (True, False):
        with pytest.raises(RecordError) as raised:
            read_record(file, strict=strict)
        assert str(raised.value).startswith(f"game.txt: {message}")
        assert len(str(raised.value)) < 300


def test_a_file_that_is_too_large_or_no_text_is_refused_by_name(tmp_path):
    with (tmp_path / "endless.txt").open("wb") as file:
        file.truncate(40_000_001)
    with pytest.raises(SettingError, match=r"at most 40,000,000 bytes in '.*endless\.txt', got"):
        read_record(tmp_path / "endless.txt")
    (tmp_path / "latin.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingError, match=r"latin\.txt: expected text in UTF-8, got"):
        read_record(tmp_path / "latin.txt")
    with pytest.raises(FileNotFoundError):
        read_record(tmp_path / "nowhere.txt")


def write_match(file, deals):
    file.write_text(records.kifu.dumps(Record(tuple(deals))), encoding="utf-8")


def test_files_of_one_match_are_held_out_together(tmp_path):
    one, two, three = play_deals(GreedyAgent(), 3, seed=1)
    write_match(tmp_path / "a.yaml", [one, two])
    write_match(tmp_path / "b.yaml", [one, three])
    apart = read_examples([tmp_path / "a.yaml"]).examples
    both = read_examples([tmp_path / "a.yaml", tmp_path / "b.yaml"])
    assert both.examples.games == apart.games == 1
    assert len(both.examples) > len(read_examples([tmp_path / "a.yaml"]).examples)


def test_hidden_files_of_a_folder_are_skipped_and_others_that_are_no_records_are_named(tmp_path):
    write_match(tmp_path / "a.yaml", play_deals(GreedyAgent(), 2, seed=1))
    (tmp_path / "._a.yaml").write_bytes(b"\0\5\x16\7\0\2")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "stray.json").write_text("[]")
    empty, stray = read_records([tmp_path], "jga", "a test").notes
    assert empty.startswith(f"left out: {tmp_path / 'empty.txt'}: empty.txt: expected history")
    assert stray.startswith(f"left out: {tmp_path / 'stray.json'}: stray.json: expected")
    (tmp_path / "a.yaml").unlink()
    with pytest.raises(SettingError, match=r"expected recorded deals in .*empty\.txt: expected"):
        read_records([tmp_path], "jga", "a test")
    with pytest.raises(RecordError, match=r"^empty\.txt: expected history"):
        read_records([tmp_path / "empty.txt"], "jga", "a test")


@pytest.mark.parametrize(
    "reads",
    [
        pytest.param(lambda file: watch.analyse(watch.read(str(file)), "greedy"), id="analysis"),
        pytest.param(lambda file: read_examples([file]), id="imitate"),
    ],
)
def test_who_knows_the_plain_game_alone_refuses_any_other(reads, tmp_path):
    game = Game(information=InformationStructure("partner", MessageChannel(2)), seed=1, dealer=0)
    while not game.done:
        game.play(game.legal_actions()[-1])
    file = tmp_path / "told.json"
    file.write_text(records.complete.dumps(records.from_game(game)))
    assert read_record(file).deals[0].information == game.information
    words = r"expected deals of the base game, which is all that .* knows, got deal 1 with Inform"
    refuses(RecordError, words, reads, file)


@pytest.mark.parametrize(("audience", "told"), [("all", "message 3"), ("partner", "a message")])
def test_a_page_lists_messages_and_keeps_private_ones(audience, told, tmp_path):
    game = Game(
        information=InformationStructure("partner", MessageChannel(2, audience)), seed=1, dealer=0
    )
    for name in ("say3", "say0", "say1", "say0"):
        game.play(name)
    file = tmp_path / "told.json"
    file.write_text(records.complete.dumps(records.from_game(game)))
    (deal,) = Book(watch.read(str(file)).deals).deals
    first = deal["moves"][0]
    assert (first["name"], first["said"]) == ("say3", "seat 0: message 3")
    assert first["hidden"] == f"seat 0: {told}"
    assert deal["note"] == UNFINISHED
    assert len(deal["frames"]) == 5
