"""The contract of every Browser. Runs on the fake and on Debian's Chromium on a real desktop of this machine."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.loop.polling import look_again
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.web import Browser
from tests.contract.conftest import SPEC, local_provider
from tests.fakes.browser import NEVER, FakeBrowser
from tests.fakes.desktop import FakeDesktop
from worker.devtools.browser import DevToolsBrowser

PAGES = {
    "file:///home/user/one.html": "<!DOCTYPE html><title>One</title><p>first</p>",
    "file:///home/user/two.html": "<!DOCTYPE html><title>Two</title><p>second</p>",
}
ONE, TWO = PAGES
NOWHERE = "http://127.0.0.1:2/"


@dataclass
class BrowserDesktop:
    """A browser with the desktop that it is in."""

    browser: Browser
    desktop: Any


def _fake() -> BrowserDesktop:
    desktop = FakeDesktop()
    browser = FakeBrowser(PAGES, desktop=desktop)
    browser.broken.add(NOWHERE)
    browser.open("chrome://newtab/")
    return BrowserDesktop(browser, desktop)


def _started(place: BrowserDesktop) -> None:
    for url, text in PAGES.items():
        place.desktop.write_file(url.removeprefix("file://"), text.encode())
    place.desktop.launch(["google-chrome", "--remote-debugging-port=1337"])

    def answers() -> bool:
        try:
            return bool(place.browser.tabs())
        except GuestRefused:
            return False

    assert look_again(place.desktop, answers, looks=200)


@pytest.fixture(scope="module", params=["fake", pytest.param("real", marks=[pytest.mark.desktop, pytest.mark.browser])])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserDesktop]:
    """A browser that runs; one for all tests of the module."""
    if request.param == "fake":
        yield _fake()
        return
    if shutil.which("chromium") is None:
        pytest.skip("needs Chromium: make setup APPS=full")
    provider = local_provider(tmp_path_factory.mktemp("browser"))
    opened = provider.open(SlotRef(0), SPEC)
    try:
        made = BrowserDesktop(DevToolsBrowser(*opened.stream_address(), (9222, 1337)), opened.desktop)
        _started(made)
        yield made
        made.browser.shut()
    finally:
        opened.close()
        provider.close()


@pytest.fixture
def browser(place: BrowserDesktop) -> Iterator[Browser]:
    """The browser, with one page open before and after."""
    yield place.browser
    for tab in list(place.browser.tabs())[:-1]:
        place.browser.close(tab.id)


class TestTabs:
    def test_a_new_browser_has_one_page(self, browser: Browser) -> None:
        (tab,) = browser.tabs()
        assert tab.kind == "page"
        assert tab.url.startswith("chrome://")

    def test_the_page_used_last_comes_first(self, browser: Browser) -> None:
        browser.open(ONE)
        browser.open(TWO)
        assert [tab.url for tab in browser.tabs()][:2] == [TWO, ONE]


class TestOpen:
    def test_the_page_has_loaded(self, browser: Browser) -> None:
        tab = browser.open(ONE)
        assert (tab.url, tab.title) == (ONE, "One")
        assert browser.tabs()[0].id == tab.id

    def test_opens_in_the_background(self, browser: Browser) -> None:
        front = browser.open(ONE)
        behind = browser.open(TWO, background=True)
        assert "second" in browser.content(behind.id)
        browser.close(behind.id)
        assert browser.tabs()[0].id == front.id

    def test_a_page_that_cannot_be_had_leaves_no_tab(self, browser: Browser) -> None:
        before = {tab.id for tab in browser.tabs()}
        with pytest.raises(GuestRefused) as refused:
            browser.open(NOWHERE)
        assert refused.value.kind == "failed"
        assert {tab.id for tab in browser.tabs()} == before


class TestClose:
    def test_closed_tab_is_not_listed(self, browser: Browser) -> None:
        tab = browser.open(ONE)
        browser.close(tab.id)
        assert tab.id not in {each.id for each in browser.tabs()}

    @pytest.mark.parametrize("name", ["0" * 32, "../version", ""])
    def test_a_page_that_is_not_there(self, browser: Browser, name: str) -> None:
        with pytest.raises(GuestRefused) as refused:
            browser.close(name)
        assert refused.value.kind == "not_found"


class TestNavigate:
    def test_the_page_has_another_address(self, browser: Browser) -> None:
        tab = browser.open(ONE)
        browser.navigate(tab.id, TWO)
        assert browser.evaluate(tab.id, "location.href") == TWO
        assert "second" in browser.content(tab.id)

    def test_an_address_that_cannot_be_had(self, browser: Browser) -> None:
        tab = browser.open(ONE)
        with pytest.raises(GuestRefused) as refused:
            browser.navigate(tab.id, NOWHERE)
        assert refused.value.kind == "failed"


class TestEvaluate:
    def test_expression_returns_its_value(self, browser: Browser) -> None:
        assert browser.evaluate(browser.open(ONE).id, "1 + 1") == 2

    def test_a_script_reads_location_and_title(self, browser: Browser) -> None:
        assert browser.evaluate(browser.open(TWO).id, "[location.href, document.title]") == [TWO, "Two"]

    def test_an_expression_that_throws(self, browser: Browser) -> None:
        with pytest.raises(GuestRefused) as refused:
            browser.evaluate(browser.open(ONE).id, "throw new Error('no')")
        assert refused.value.kind == "failed"

    def test_an_answer_that_never_comes(self, browser: Browser) -> None:
        tab = browser.open(ONE)
        with pytest.raises(GuestRefused) as refused:
            browser.evaluate(tab.id, NEVER, timeout=0.5)
        assert refused.value.kind == "timeout"
        assert browser.evaluate(tab.id, "1 + 1") == 2

    def test_a_page_that_is_gone(self, browser: Browser) -> None:
        tab = browser.open(ONE)
        browser.close(tab.id)
        with pytest.raises(GuestRefused) as refused:
            browser.evaluate(tab.id, "1 + 1")
        assert refused.value.kind == "not_found"


class TestContent:
    def test_content_is_the_pages_html(self, browser: Browser) -> None:
        assert "<p>first</p>" in browser.content(browser.open(ONE).id)


class TestPdf:
    def test_the_page_printed(self, browser: Browser) -> None:
        assert browser.pdf(browser.open(ONE).id).startswith(b"%PDF-")


class TestCommand:
    def test_gives_the_result(self, browser: Browser) -> None:
        assert isinstance(browser.command(browser.open(ONE).id, "Page.getLayoutMetrics"), dict)


class TestShut:
    def test_shut_is_idempotent_and_reconnects(self, browser: Browser) -> None:
        tab = browser.open(ONE)
        browser.shut()
        browser.shut()
        assert browser.evaluate(tab.id, "document.title") == "One"


class TestGone:
    """The last tests of the module: they end the browser, and then the desktop."""

    def test_ended_browser_is_an_error(self, place: BrowserDesktop) -> None:
        if isinstance(place.browser, FakeBrowser):
            place.browser.running = False
        else:
            place.desktop.execute("pkill -f remote-debugging-port", shell=True)

        def ended() -> bool:
            try:
                place.browser.tabs()
            except GuestRefused as error:
                return error.kind == "no_browser"
            return False

        assert look_again(place.desktop, ended)

    def test_a_dead_desktop_is_lost(self) -> None:
        made = _fake()
        made.desktop.die()
        for dead in (made.browser, DevToolsBrowser("unix:/nowhere/api", "secret", (9222,))):
            with pytest.raises(GuestLost):
                dead.tabs()
