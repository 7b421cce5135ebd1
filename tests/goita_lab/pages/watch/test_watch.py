"""Replay pages: what they hold for each seat, that they stand alone, and whence records come."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from goita_env import Game, actions, records
from goita_env.records import DealRecord
from goita_env.render import svg
from goita_env.render.pen import FACES, PREFIX
from goita_lab.commands import evaluate
from goita_lab.commands.watch import main
from goita_lab.pages import watch
from goita_lab.pages.watch.reading import Source, Watched, read
from record_samples import FIVE, LINE

OPEN = 4
TWO_FIVES = ["11111238", "11111337", "22344567", "24455569"]


class Page(HTMLParser):
    """Reads a page: its tags, its data, every address in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.addresses, self.ids, self.data, self._in = [], [], set(), "", False
        self.feed(text)
        self.told = json.loads(self.data)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.ids |= {found["id"]} if "id" in found else set()
        self.addresses += [found[name] for name in ("src", "href") if name in found]
        self._in = tag == "script" and found.get("id") == "data"

    def handle_data(self, text: str) -> None:
        self.data += text if self._in else ""

    def handle_endtag(self, tag: str) -> None:
        self._in = False

    def frame(self, deal: int, move: int, seen: int) -> list[str]:
        return [self.told["lines"][n] for n in self.told["deals"][deal]["frames"][move][seen][0]]

    def words(self, deal: int, move: int, seen: int) -> str:
        numbers = self.told["deals"][deal]["frames"][move][seen][1]
        return " ".join(self.told["sentences"][n] for n in numbers)


def source(*deals: DealRecord, players=("north", "", "", "")) -> Source:
    return Source("a game", tuple(Watched(deal, players) for deal in deals), len(deals))


def refused(capsys, *arguments: str) -> str:
    """What the command complains of."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def deal():
    return records.history.loads(LINE).deals[0]


@pytest.fixture(scope="module")
def page(deal):
    return Page(watch.page(source(deal)))


def test_a_page_has_a_frame_for_every_position_and_seat(page, deal):
    told = page.told["deals"][0]
    assert len(told["moves"]) == len(deal.moves) == 13
    assert [len(frames) for frames in told["frames"]] == [5] * 14
    assert told["result"] == "seat 2 ends the round: 30 points"
    assert told["moves"][0] == {
        "seat": 2, "name": "46", "end": "", "pair": [3, 5], "down": True,
        "said": "seat 2: face-down silver then bishop",
        "hidden": "seat 2: face-down tile then bishop",
    }  # fmt: skip


def test_a_frame_is_the_drawing_of_the_position(page, deal):
    games = deal.replay()
    for move in range(1, 6):
        game = next(games)
        open_table = svg.draw(game.scene(), faces="letters")
        assert page.frame(0, move, OPEN) == [line.replace(PREFIX, "w") for line in open_table.lines]
        seen = svg.draw(game.view(3).scene(3), faces="letters")
        assert page.frame(0, move, 3) == [line.replace(PREFIX, "w") for line in seen.lines]


def test_the_frame_of_a_seat_holds_what_it_saw_and_no_more(deal):
    # Seat 1's silver and seat 3's pawn change places: the others see the same until one is played.
    hands = list(deal.hands)
    hands[1], hands[3] = hands[1].replace("4", "1", 1), hands[3].replace("1", "4", 1)
    other = replace(deal, hands=tuple(hands), moves=deal.moves[:2])
    one, two = (Page(watch.page(source(it))) for it in (replace(deal, moves=deal.moves[:2]), other))
    for move in range(3):
        for seat in (0, 2):
            assert one.frame(0, move, seat) == two.frame(0, move, seat)
            assert one.words(0, move, seat) == two.words(0, move, seat)
        for seat in (1, 3, OPEN):
            assert one.words(0, move, seat) != two.words(0, move, seat)


def test_a_redeal_and_an_illegal_move_end_a_deal(deal):
    game = Game(hands=FIVE, dealer=0, seed=1)
    for move in ("call", "redeal"):
        game.play(actions.parse(move))
    redealt = records.from_game(game).deals[0]
    broken = replace(deal, number=1, moves=(*deal.moves[:2], (0, actions.parse("88"))))
    one, other = Page(watch.page(source(redealt, broken))).told["deals"]
    assert one["result"] == "a redeal"
    assert [move["name"] for move in one["moves"]] == ["call", "redeal"]
    assert one["frames"][2] == one["frames"][1]  # nothing of the next deal
    assert len(other["moves"]) == 2
    assert "deal 1, move 3 (play 3): expected" in other["note"]


def test_a_seat_that_keeps_silent_does_so_unseen():
    deal = DealRecord(TWO_FIVES, 0, ((0, actions.SILENT), (1, actions.SILENT)))
    moves = Page(watch.page(source(deal))).told["deals"][0]["moves"]
    assert [move["said"] for move in moves] == ["seat 0: keep silent", "seat 1: keep silent"]
    assert [move["hidden"] for move in moves] == ["", ""]


@pytest.mark.parametrize("moves", [0, 5])
def test_an_unfinished_deal_is_named_with_what_is_shown(moves, deal, tmp_path, capsys):
    file, page = tmp_path / "match.json", tmp_path / "page.html"
    record = records.Record((deal, replace(deal, number=2, moves=deal.moves[:moves])))
    file.write_text(records.complete.dumps(record), encoding="utf-8")
    assert main([str(file), "-o", str(page)]) == 0
    told = capsys.readouterr()
    assert told.err.startswith("match.json: deal 2")
    assert told.err.count("\n") == 1
    assert told.out == f"{page}: 2 deals, 1 round finished\n"
    notes = [one["note"] for one in Page(page.read_text(encoding="utf-8")).told["deals"]]
    assert notes == ["", "The deal is unfinished: the record ends here"]
    assert main([str(file), "-o", str(page), "--force", "--deal", "1"]) == 0
    assert capsys.readouterr().err == ""


def test_a_page_loads_nothing_and_is_small(deal):
    text = watch.page(source(*[deal] * 3))
    page = Page(text)
    used = {name for line in page.told["lines"] for name in re.findall('href="#([^"]+)"', line)}
    assert set(page.told["faces"]) == set(FACES)
    for definitions in page.told["faces"].values():
        assert used <= set(re.findall(r'id="([^"]+)"', definitions))
    assert [address for address in page.addresses if not address.startswith("#")] == []
    assert "link" not in page.tags
    assert not re.search(r"https?://(?!www\.w3\.org)|@import|url\(", text)
    assert len(text.encode()) < 250_000


def test_names_cannot_break_out_of_the_page(deal):
    name = "</script><script>alert(1)</script><!--\u2028"
    text = watch.page(replace(source(deal, players=(name, "", "", "")), title=name))
    page = Page(text)
    assert page.tags.count("script") == 3
    assert page.told["deals"][0]["players"][0] == name
    assert "alert(1)</script>" not in text
    text = watch.page(source(deal, players=("\ud800a", "", "", "")))
    assert Page(text.encode().decode()).told["deals"][0]["players"][0] == "?a"


def test_saved_games_are_read(tmp_path, capsys):
    folder = tmp_path / "games"
    command = ["--agents", "greedy", "random", "--deals", "2", "--save-games", str(folder)]
    assert evaluate.main(command) == 0
    every = read(str(folder))
    assert sorted(every.deals[0].players) == ["greedy", "greedy", "random", "random"]
    assert every.total == len(every.deals) == 4
    one_file = read(str(next(folder.glob("*.jsonl"))), deals="2-3")
    assert one_file.deals == every.deals[1:3]


@pytest.mark.parametrize("name", ["page.html", "deal.svg"])
def test_a_file_that_exists_is_written_over_with_force_alone(name, tmp_path, capsys):
    file = tmp_path / name
    file.write_text("mine")
    complaint = f"expected a new file, got {str(file)!r}, which exists: --force writes over it"
    assert refused(capsys, LINE, "-o", str(file)).endswith(f"error: {complaint}\n")
    assert file.read_text() == "mine"
    assert main([LINE, "-o", str(file), "--force"]) == 0
    assert capsys.readouterr().out == f"{file}: 1 deal\n"
    begins = {"page.html": b"<!DOCTYPE html>", "deal.svg": b"<svg "}[name]
    assert file.read_bytes().startswith(begins)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.yaml"], "No such file"),
        ([LINE, "--deal", "0"], "expected deals as 3 or 5-9, got '0'"),
        ([LINE, "--deal", "7"], "expected deals 7 to 7, got 1 in"),
        (["tests"], "expected a folder of saved games, got no tournament.json"),
    ],
)
def test_what_is_no_record_is_refused(arguments, message, capsys, tmp_path):
    assert message in refused(capsys, *arguments, "-o", str(tmp_path / "x.html"))
    assert not (tmp_path / "x.html").exists()


def test_a_page_is_told_in_japanese(deal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deal.txt").write_text(f"{records.history.dumps(records.Record((deal,)))}\n")
    assert main(["deal.txt", "--language", "ja"]) == 0
    text = (tmp_path / "replay.html").read_text(encoding="utf-8")
    assert '<html lang="ja">' in text
    (move, *_) = Page(text).told["deals"][0]["moves"]
    assert move["said"] == "席2：伏せ銀→角"
    with pytest.raises(SystemExit):
        main(["deal.txt", "--language", "fr"])
