"""A match that is served to a browser, and what a player does on its page."""

import socket
from threading import Thread

import uvicorn

from goita_lab.pages.play import savegame, web
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import Background, Sitting
from play_tables import GREEDY

READY = "body:not([aria-busy])"
WORLDS = 16
"""Of analyses, so that they take seconds."""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
"""Pixels by which a page is too wide; a scroll bar takes some of the window."""
AT_ONCE = {"reduced_motion": "reduce"}
"""A browser's wish for which the page shows others' moves at once."""


class Server:
    """Serves a match, and can be restarted at the same address."""

    def __init__(self, folder, seed=0, agents=GREEDY):
        self.file, self.port = folder / "match.json", 0
        savegame.begin(MatchSettings(agents, seed), self.file)
        self.start()

    def start(self):
        self.table = savegame.resume(self.file)
        self.sitting = Sitting(self.table, self.file, background=Background(worlds=WORLDS))
        app = web.application(self.sitting, "token", "127.0.0.1")
        self.close = self.sitting.close
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        listening.listen()
        self.port, self._listening = listening.getsockname()[1], listening
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listening]})
        self._thread.start()
        self.link = f"http://127.0.0.1:{self.port}/token/"

    def stop(self):
        self._server.should_exit = True
        self._thread.join()
        self.close()
        self._listening.close()


def welcomed(page):
    """A page whose first words are read and closed."""
    page.click("#welcome button")
    return page


def ready(page):
    page.wait_for_selector("#hand button, #answers button, #picture svg")
    page.wait_for_selector(READY)


def begun(serve, open_page, seed=1, **options):
    """A server and its page, which waits."""
    server = serve(seed=seed)
    page = welcomed(open_page(server.link, **AT_ONCE, **options))
    ready(page)
    return server, page


def go(page, press) -> None:
    """Does the next thing that the page asks for, by pressing the last button of a selector."""
    if page.locator("#answers button.main").count():
        press("#answers button.main")
    elif page.locator("#hand button:enabled").count():
        press("#hand button:enabled")
        assert page.locator("#hand [aria-pressed=true]").count() == 1
        press("#hand button[aria-pressed=false]:enabled")
    else:
        press("#answers button")
    page.wait_for_selector(READY)


def end_round(page) -> None:
    """Plays a round to its end by clicks."""
    while not page.locator("#answers button[data-do=analysis]").count():
        go(page, lambda buttons: page.locator(buttons).first.click())
