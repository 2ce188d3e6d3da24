"""Set-up steps of browsers, where the cases of the contract do not look."""

import sqlite3
from pathlib import Path

from backend.domain import registry
from backend.domain.errors import TaskSetupFailed
from backend.domain.ports.desktop import ExecResult
from backend.domain.setup import run_step
from backend.domain.setup._history import history_file
from tests.error_codes import raises_code
from tests.factories.setup_cases.browsers import CHROME, FIRST, SECOND, open_urls, opened, place
from tests.factories.starter_tasks import FakeContext
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop

registry.load()


def browser_of(context: FakeContext) -> FakeBrowser:
    browser = context.browser()
    assert isinstance(browser, FakeBrowser)
    return browser


class TestOpenTabs:
    def test_the_page_that_was_there_goes_last_of_all(self) -> None:
        context = place()
        run_step(context, "chrome_open_tabs", {"urls_to_open": [FIRST]})
        assert open_urls(context) == [FIRST]

    def test_nothing_to_open_closes_nothing(self) -> None:
        context = place()
        run_step(context, "chrome_open_tabs", {"urls_to_open": []})
        assert open_urls(context) == ["chrome://newtab/"]

    def test_a_page_that_cannot_be_had(self) -> None:
        context = place()
        browser_of(context).broken.add(SECOND)
        with raises_code(TaskSetupFailed, "page_not_opened", mentions="two.example"):
            run_step(context, "chrome_open_tabs", {"urls_to_open": [FIRST, SECOND]})

    def test_a_page_that_continues_loading(self) -> None:
        context = place()
        browser_of(context).slow.add(FIRST)
        run_step(context, "edge_open_tabs", {"urls_to_open": [FIRST, SECOND]})
        assert set(open_urls(context)) == {FIRST, SECOND}

    def test_missing_browser_fails_the_step(self) -> None:
        with raises_code(TaskSetupFailed, "browser_not_reachable"):
            run_step(FakeContext(FakeDesktop()), "chrome_open_tabs", {"urls_to_open": [FIRST]})


class TestCloseTabs:
    def test_a_page_for_another_country(self) -> None:
        context = opened()
        run_step(context, "chrome_close_tabs", {"urls_to_close": ["https://www.example.com"]})
        assert FIRST not in open_urls(context)

    def test_a_page_that_never_appears(self) -> None:
        with raises_code(TaskSetupFailed, "page_not_open"):
            run_step(opened(), "chrome_close_tabs", {"urls_to_close": ["https://gone.example"]})


class TestHistory:
    VISIT = {"url": FIRST, "title": "One", "visit_time_from_now_in_seconds": 60}  # noqa: RUF012

    def test_times_are_the_desktops(self, tmp_path: Path) -> None:
        path = tmp_path / "History"
        path.write_bytes(history_file([(FIRST, "One", 60.0)], 1_800_000_000.0))
        connection = sqlite3.connect(path)
        result = connection.execute("SELECT last_visit_time FROM urls").fetchone()
        connection.close()
        assert result == (13_444_473_540_000_000,)

    def test_goes_to_the_browser_that_is_there(self) -> None:
        context = place()
        context.desktop.commands["python"] = lambda _: ExecResult(returncode=0, output="chromium")
        run_step(context, "update_browse_history", {"history": [self.VISIT]})
        assert list(context.desktop.files) == [CHROME.replace("google-chrome", "chromium")]

    def test_history_is_written_to_edges_windows_folder(self) -> None:
        context = place()
        context.desktop.platform = "Windows"
        run_step(context, "update_browse_history_edge", {"history": [self.VISIT]})
        assert list(context.desktop.files) == ["$LOCALAPPDATA/Microsoft/Edge/User Data/Default/History"]

    def test_an_unknown_browser(self) -> None:
        context = place()
        context.desktop.commands["python"] = lambda _: ExecResult(returncode=1, error="no")
        with raises_code(TaskSetupFailed, "command_failed"):
            run_step(context, "update_browse_history", {"history": [self.VISIT]})
