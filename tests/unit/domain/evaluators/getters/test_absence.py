"""Facts about a desktop, told from questions that could not be asked."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._evidence import ABSENT, NO_ROUTE, absence, fetch_file, python_says
from backend.domain.evaluators.getters._live import NO_PAGES, page_evidence, running
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind
from backend.domain.setup import run_step
from tests.error_codes import raises_code
from tests.factories.desktops import linux, refuses
from tests.factories.getter_cases.browsers import showing
from tests.factories.starter_tasks import FakeContext
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop

registry.load()
OPEN = ("timeout", "failed", "internal", "no_space", "error")
GETTERS: dict[str, dict[str, Any]] = {
    "vm_file": {"path": "/a", "dest": "a"},
    "list_directory": {"path": "/a"},
    "vm_command_line": {"command": "look"},
    "vm_command_error": {"command": "look"},
    "vlc_playing_info": {"dest": "status.xml"},
    "open_tabs_info": {},
    "vscode_config": {"vscode_extension_command": "x", "path": "/a", "dest": "a"},
}


def desktop_that(kind: str) -> FakeContext:
    """One that refuses files, listings, commands, ports and pages in this way."""
    context = linux(routes={("POST", "/list_directory"): refuses("so it is", kind)})
    refuse = refuses("so it is", kind)
    desktop = context.desktop
    desktop.read_file = lambda *_, **__: refuse(None)
    desktop.activate_window = lambda *_, **__: refuse(None)
    desktop.execute = lambda *_, **__: refuse(None)
    context.http = lambda *_, **__: refuse(None)  # type: ignore[method-assign]
    browser = FakeBrowser()
    browser.tabs = lambda: refuse(None)  # type: ignore[method-assign]
    context.browsers[9222] = browser
    return context


def collected(name: str, context: SetupContext) -> Any:
    return registry.lookup(PluginKind.GETTER, name, "osworld")().collect(context, GETTERS[name])


class TestAbsence:
    @pytest.mark.parametrize("kind", sorted(ABSENT))
    def test_absence_caused_by_the_agent(self, kind: str) -> None:
        blob = absence("/a", GuestRefused("so it is", kind=kind))
        assert (blob.name, blob.data, blob.note) == ("/a", None, "so it is")

    @pytest.mark.parametrize("kind", OPEN)
    def test_failed_queries_are_not_absence(self, kind: str) -> None:
        with pytest.raises(GuestRefused):
            absence("/a", GuestRefused("so it is", kind=kind))

    def test_missing_route_gives_no_verdict(self) -> None:
        with pytest.raises(GuestRefused):
            absence("/a", GuestRefused(f"there is {NO_ROUTE}", kind="not_found"))


class TestGetters:
    @pytest.mark.parametrize("name", GETTERS)
    @pytest.mark.parametrize("kind", OPEN)
    def test_failure_is_not_absence(self, name: str, kind: str) -> None:
        with pytest.raises(GuestRefused):
            collected(name, desktop_that(kind))

    @pytest.mark.parametrize("name", GETTERS)
    def test_missing_files_are_absent(self, name: str) -> None:
        assert [blob.data for blob in collected(name, desktop_that("not_found"))] == [None]

    @pytest.mark.parametrize(("name", "kind"), [("open_tabs_info", "no_browser"), ("vlc_playing_info", "refused")])
    def test_closed_program_is_absent(self, name: str, kind: str) -> None:
        assert [blob.data for blob in collected(name, desktop_that(kind))] == [None]

    @pytest.mark.parametrize("kind", OPEN)
    def test_unreadable_shortcut_gives_no_verdict(self, kind: str) -> None:
        routes = {("POST", "/desktop_path"): {"desktop_path": "/d"}}
        context = linux(routes=routes, python='{"files": ["a.desktop"], "folders": []}')
        context.desktop.read_file = lambda *_, **__: refuses("so it is", kind)(None)
        getter = registry.lookup(PluginKind.GETTER, "shortcuts_on_desktop", "osworld")()
        with pytest.raises(GuestRefused):
            getter.collect(context, {})

    def test_edge_that_does_not_end_gives_no_verdict(self) -> None:
        """Its file cannot be read while it runs, and would seem not to be there."""
        context = linux(platform="Windows", commands={"taskkill": refuses("so it is", "timeout")})
        with pytest.raises(GuestRefused):
            registry.lookup(PluginKind.GETTER, "cookie_data_for_edge", "waa")().collect(context, {})

    @pytest.mark.parametrize(("kind", "raises"), [("timeout", True), ("no_browser", False), ("failed", False)])
    def test_settings_page_timeout_is_raised_and_absence_falls_back(self, kind: str, raises: bool) -> None:  # noqa: FBT001
        """The profile's own value is seconds old."""
        context = linux()
        browser = FakeBrowser()
        browser.tabs = lambda: refuses("so it is", kind)(None)  # type: ignore[method-assign]
        context.browsers[9222] = browser
        getter = registry.lookup(PluginKind.GETTER, "chrome_appearance_mode_ui", "osworld")()
        if raises:
            with pytest.raises(GuestRefused):
                getter.collect(context, {})
        else:
            assert getter.collect(context, {})[0].data is None


class TestPythonSays:
    def test_transient_failures_are_raised(self) -> None:
        context = linux(commands={"python": refuses("so it is", "timeout")})
        with pytest.raises(GuestRefused):
            python_says(context, "names", "print(1)")

    def test_missing_python_is_noted(self) -> None:
        assert python_says(linux(), "names", "print(1)").note == "no python here"


class TestFetched:
    def test_missing_file_is_noted(self) -> None:
        assert "no such file" in fetch_file(linux(), "/a").note


class TestShown:
    def seen(self, tree: str, pages: str) -> Any:
        """Which kinds of refusal the tree and the list of pages give."""
        context = desktop_that(pages)
        context.desktop.accessibility_tree = lambda: refuses("so it is", tree)(None)
        return page_evidence(context)

    @pytest.mark.parametrize("kind", sorted(NO_PAGES))
    def test_missing_browser_has_no_pages(self, kind: str) -> None:
        assert [blob.data for blob in self.seen("not_available", kind)] == [None, None]

    def test_slow_browser_is_not_taken_for_a_missing_one(self) -> None:
        with pytest.raises(GuestRefused):
            self.seen("not_available", "timeout")

    def test_browser_without_devtools_is_an_error(self) -> None:
        with pytest.raises(GuestRefused):
            self.seen("timeout", "no_browser")

    def test_devtools_address_replaces_a_missing_tree(self) -> None:
        context = showing("x", "https://a.org/")
        context.desktop.accessibility_tree = lambda: refuses("so it is", "timeout")(None)
        tree, pages = page_evidence(context)
        assert (tree.data, b"https://a.org/" in (pages.data or b"")) == (None, True)

    def test_a_busy_page_is_not_mistaken_for_another(self) -> None:
        context = showing("x", "https://b.org/", "https://a.org/")
        browser = context.browser()
        assert isinstance(browser, FakeBrowser)
        busy, other = browser.tabs()
        evaluate = browser.evaluate

        def answer(tab: str, expression: str, *, timeout: float = 10.0) -> Any:
            if tab == busy.id:
                raise GuestRefused("busy", kind="timeout")
            shows = expression == "document.visibilityState"
            return "visible" if shows else evaluate(tab, expression, timeout=timeout)

        browser.evaluate = answer  # type: ignore[method-assign]
        blobs = page_evidence(context, lambda browser, tab: {"seen": browser.evaluate(tab.id, "document.title")})
        assert {blob.name: blob.note for blob in blobs[2:]}[f"page {busy.url}"] == "busy"
        assert f"page {other.url}" in {blob.name for blob in blobs[2:]}


class TestRunning:
    def launched(self, launch: Callable[..., None]) -> Any:
        desktop = FakeDesktop()
        desktop.launch = launch  # type: ignore[method-assign]
        return running(FakeContext(desktop))

    def test_slow_browser_is_not_taken_for_a_closed_one(self) -> None:
        with pytest.raises(GuestRefused):
            running(desktop_that("timeout"))

    def test_browser_that_never_appears_is_an_error(self) -> None:
        with raises_code(GuestRefused, "guest_refused", kind="timeout"):
            self.launched(lambda *_, **__: None)

    def test_browser_that_fails_to_start_is_an_error(self) -> None:
        with raises_code(GuestRefused, "guest_refused", kind="failed"):
            self.launched(lambda *_, **__: refuses("so it is", "failed")(None))

    def test_missing_browser_is_absent(self) -> None:
        assert self.launched(lambda *_, **__: refuses("so it is", "not_found")(None)) is None

    def test_browser_without_devtools_is_not_running(self) -> None:
        context = FakeContext(FakeDesktop())
        run_step(context, "launch", {"command": ["chromium"]})
        assert running(context) is None
