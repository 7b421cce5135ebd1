"""Opens pages in the system's Chromium: `make test-web`; skipped where there is none."""

import sys

import pytest

from programs import ROOT

sys.path.append(str(ROOT / "tools"))
import chromium


@pytest.fixture(scope="session")
def browser():
    """A browser without a window; the tests that ask for it are skipped where it is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: make test-web")
    if chromium.find() is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens addresses in fresh windows; fails where a page complains or asks anybody else."""
    contexts, complaints = [], []

    def opened(address, *, wide=1280, scheme="light", **options):
        context = browser.new_context(
            viewport={"width": wide, "height": 800}, color_scheme=scheme, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        home = "/".join(address.split("/")[:3])  # the machine and port of a page that is served
        page.on("request", lambda request: asked(request.url, home))
        page.goto(address)
        return page

    def asked(address, home):
        if not address.startswith(f"{home}/"):
            complaints.append(f"asked for {address}")

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def serve(tmp_path):
    """Serves matches to the end of the test."""
    from play_pages import Server

    servers = []

    def served(**options):
        servers.append(Server(tmp_path, **options))
        return servers[-1]

    yield served
    for server in servers:
        server.stop()
