"""Getters of browsers where the cases of the contract do not look: which profile, which window, what is damaged."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, GuestRefused, Invalid
from backend.domain.evaluators.getters._live import address, background_page, page, running
from backend.domain.evaluators.getters._profile import at, settings
from backend.domain.evaluators.getters._shortcuts import Shortcuts
from backend.domain.model.score import Blob
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories import chrome_profile
from tests.factories.getter_cases.browsers import CHROMIUM, EDGE, bar, folder, profile, showing
from tests.factories.lnk import lnk
from tests.factories.starter_tasks import FakeContext
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop

registry.load()


def value(context: FakeContext, name: str, folder: Path, **parameters: Any) -> Any:
    getter = registry.lookup(PluginKind.GETTER, name, "osworld")()
    getter.check(parameters)
    return getter.read(getter.collect(context, parameters), parameters, folder)


def stored(value: Mapping[str, Any], name: str = "Default/Preferences") -> dict[str, bytes]:
    return {name: chrome_profile.as_file(value)}


class TestWhichProfile:
    def test_profile_of_the_browser_that_ran_is_read(self, tmp_path: Path) -> None:
        """A task's set-up may write settings of Chrome on a desktop that has Chromium."""
        context = profile(stored({"profile": {"name": "written"}}))
        used = stored({"profile": {"name": "used"}}) | stored({}, "Local State")
        context.desktop.files |= {f"{CHROMIUM}/{name}": data for name, data in used.items()}
        assert value(context, "profile_name", tmp_path) == "used"

    def test_profile_named_by_the_task(self, tmp_path: Path) -> None:
        context = profile(stored({"profile": {"name": "other"}}), "/tmp/profile")
        assert value(context, "profile_name", tmp_path, user_data_dir="/tmp/profile/") == "other"
        with pytest.raises(Invalid):
            value(context, "profile_name", tmp_path, user_data_dir="C:\\profile")

    def test_protected_settings_go_first(self, tmp_path: Path) -> None:
        plain = stored({"homepage": "a", "download": {"default_directory": "C:\\"}})
        context = profile(plain | stored({"homepage": "https://b/"}, "Default/Secure Preferences"), EDGE)
        assert value(context, "edge_home_page", tmp_path) == "b"
        assert value(context, "edge_default_download_folder", tmp_path) == "C:\\"


DEFAULTS: dict[str, Any] = {
    "default_search_engine": "Google", "enable_do_not_track": "false", "enable_enhanced_safety_browsing": "false",
    "enable_safe_browsing": "true", "new_startup_page": "true", "data_delete_automacally": "false",
    "chrome_color_scheme": "system", "find_installed_extension_name": [], "find_unpacked_extension_path": [],
    "profile_name": None, "chrome_font_size": {"default_fixed_font_size": 13, "default_font_size": 16},
}  # fmt: skip
EDGES: dict[str, Any] = {
    "default_search_engine_from_edge": "Bing", "enable_do_not_track_from_edge": 0.0,
    "enable_enhanced_safety_browsing_from_edge": 0.0, "data_delete_automacally_from_edge": 0.0,
    "edge_home_page": "False", "edge_default_download_folder": "False", "profile_name_from_edge": None,
}  # fmt: skip


class TestSettings:
    @pytest.mark.parametrize("name", DEFAULTS)
    def test_missing_key_is_the_browsers_default(self, name: str, tmp_path: Path) -> None:
        assert value(profile(stored({})), name, tmp_path) == DEFAULTS[name]

    @pytest.mark.parametrize("name", EDGES)
    def test_every_edge_setting_has_its_default(self, name: str, tmp_path: Path) -> None:
        assert value(profile(stored({}), EDGE), name, tmp_path) == EDGES[name]

    @pytest.mark.parametrize("data", [b"", b"{", b"[]", b'"text"'])
    def test_a_damaged_file_is_none(self, data: bytes, tmp_path: Path) -> None:
        """An agent must not avoid its score by damaging it."""
        assert value(profile({"Default/Preferences": data}), "default_search_engine", tmp_path) is None

    @pytest.mark.parametrize("odd", [{"webkit": 3}, {"webkit": {"webprefs": []}}])
    def test_malformed_settings_count_as_missing(self, odd: dict[str, Any], tmp_path: Path) -> None:
        assert value(profile(stored(odd)), "chrome_font_size", tmp_path) == DEFAULTS["chrome_font_size"]

    def test_unknown_search_engine_is_called_unknown(self, tmp_path: Path) -> None:
        files = stored({"default_search_provider": {"synced_guid": "other"}})
        assert value(profile(files, EDGE), "default_search_engine_from_edge", tmp_path) == "Unknown"

    def test_other_permissions_do_not_delete_data(self, tmp_path: Path) -> None:
        files = stored({"profile": {"default_content_setting_values": {"notifications": 2}}})
        assert value(profile(files), "data_delete_automacally", tmp_path) == "false"

    def test_protected_and_plain_settings_are_merged_deeply(self) -> None:
        blobs = [Blob(name="a", data=b'{"a": {"b": 1, "c": 2}}'), Blob(name="b", data=b'{"a": {"c": 3}, "d": 4}')]
        result = settings(blobs)
        assert (at(result, "a.b"), at(result, "a.c"), at(result, "d"), at(result, "a.b.c", 5)) == (1, 3, 4, 5)
        with pytest.raises(EvaluatorFailed):
            settings([])


class TestDatabases:
    def test_rows_of_the_write_ahead_log_are_read(self, tmp_path: Path) -> None:
        """A running browser may have written visits beside its file and not yet into it."""
        source = tmp_path / "History"
        source.write_bytes(chrome_profile.history(("https://old.example", "", 1)))
        connection = sqlite3.connect(source)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("INSERT INTO urls(url, title, last_visit_time) VALUES('https://new.example', '', 2)")
        connection.commit()
        names = {"Default/History": source, "Default/History-wal": tmp_path / "History-wal"}
        context = profile({name: path.read_bytes() for name, path in names.items()})
        connection.close()
        (tmp_path / "read").mkdir()
        result = value(context, "history", tmp_path / "read")
        assert [row[0] for row in result] == ["https://old.example", "https://new.example"]

    def test_a_schema_that_is_not_text_is_none(self, tmp_path: Path) -> None:
        data = chrome_profile.database("CREATE TABLE urls (url, title, last_visit_time)")
        assert (
            value(profile({"Default/History": data.replace(b"TABLE urls", b"TAB\xe5\xff urls")}), "history", tmp_path)
            is None
        )

    @pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + bytes(90)])
    def test_a_damaged_file_is_none(self, data: bytes, tmp_path: Path) -> None:
        assert value(profile({"Default/History": data}), "history", tmp_path) is None

    def test_a_table_with_too_many_rows_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The row that must be gone could be one that is not read."""
        monkeypatch.setattr("backend.domain.formats.browser_tables.MAX_ROWS", 2)
        table, insert = "CREATE TABLE urls (url, title, last_visit_time)", "INSERT INTO urls VALUES (?, '', 1)"
        data = chrome_profile.database(table, [[f"https://{name}.example"] for name in "abc"], insert)
        assert value(profile({"Default/History": data}), "history", tmp_path) is None

    def test_database_that_changes_while_copied_is_copied_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        context = profile({"Default/History": b"half"})
        (path,) = (name for name in context.desktop.files if name.endswith("History"))
        whole, read = chrome_profile.database("CREATE TABLE urls (url, title, last_visit_time)"), []

        def read_file(name: str, **_limits: int) -> bytes:
            read.append(name)
            if read.count(path) > 1:
                context.desktop.files[path] = whole
            return FakeDesktop.read_file(context.desktop, name)

        monkeypatch.setattr(context.desktop, "read_file", read_file)
        assert value(context, "history", tmp_path) == []

    def test_endless_query_is_stopped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.domain.formats.browser_tables.MAX_SECONDS", 0.2)
        endless = (
            "CREATE VIEW cookies AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
        )
        assert value(profile({"Default/Cookies": chrome_profile.database(endless)}), "cookie_data", tmp_path) is None


class TestAddress:
    def seen(self, tree: str | None, *urls: str) -> list[Blob]:
        listed = json.dumps([{"id": "1", "url": url, "title": "", "kind": "page"} for url in urls]).encode()
        return [Blob(name="tree", data=None if tree is None else tree.encode()), Blob(name="open pages", data=listed)]

    def test_address_of_the_active_window(self) -> None:
        assert address(self.seen(bar("a.org", "b.org", active=1)), "https://") == "https://b.org"
        assert address(self.seen(bar("a.org", "b.org", active=7)), "https://") == "https://a.org"

    @pytest.mark.parametrize(
        ("text", "url"),
        [
            ("chrome://settings/appearance", "chrome://settings/appearance"),
            ("http://a.org", "http://a.org"),
            ("about:blank", "about:blank"),
            ("/home/user/a.html", "file:///home/user/a.html"),
            ("a.org/x?y=1&z=2", "https://www.a.org/x?y=1&z=2"),
        ],
    )
    def test_prefix_is_added_only_without_a_scheme(self, text: str, url: str) -> None:
        assert address(self.seen(bar(text)), "https://www.") == url

    @pytest.mark.parametrize("tree", [None, "<desktop-frame/>", bar("a.org", app="Text Editor"), bar("")])
    def test_devtools_address_is_used_without_an_address_bar(self, tree: str | None) -> None:
        assert address(self.seen(tree, "https://c.org/", "https://d.org/"), "https://") == "https://c.org/"
        assert address(self.seen(tree), "https://") is None

    def test_address_of_windows_browsers(self) -> None:
        tree = (
            '<desktop xmlns:val="uri:deskat:value.at-spi.gnome.org"><chrome_widgetwin_1><edit '
            'name="Address and search bar" val:value="a.org/x"/></chrome_widgetwin_1></desktop>'
        )
        assert address(self.seen(tree), "https://") == "https://a.org/x"

    def test_damaged_tree_gives_no_verdict(self) -> None:
        with pytest.raises(EvaluatorFailed):
            address(self.seen("<a"), "https://")

    def test_page_of_the_address_is_found(self) -> None:
        blobs = self.seen(bar("b.org/x"), "https://a.org/", "https://www.b.org/x/")
        blobs += [
            Blob(name=url, data=json.dumps({"url": url}).encode()) for url in ("https://a.org/", "https://www.b.org/x/")
        ]
        assert page(blobs, "https://") == {"url": "https://www.b.org/x/"}
        with raises_code(EvaluatorFailed, "evidence_unreadable"):
            page([*blobs[:3], blobs[3].model_copy(update={"note": "timeout"})], "https://")


class TestLookedUp:
    def test_slow_page_is_read_as_loaded_and_closed(self) -> None:
        context = showing("x", "https://a.org/")
        browser = context.browser()
        assert isinstance(browser, FakeBrowser)
        browser.slow.add("https://slow.org/")
        with background_page(browser, "https://slow.org/") as tab:
            assert tab.url == "https://slow.org/"
        assert [tab.url for tab in browser.tabs()] == ["https://a.org/"]

    def test_unreachable_page_is_an_error(self) -> None:
        browser = showing("x", "https://a.org/").browser()
        assert isinstance(browser, FakeBrowser)
        browser.broken.add("https://gone.org/")
        with pytest.raises(GuestRefused), background_page(browser, "https://gone.org/"):
            pass

    def test_closed_browser_is_started(self) -> None:
        desktop = FakeDesktop()
        context = FakeContext(desktop)
        browser = FakeBrowser(running=False, desktop=desktop)
        context.browsers[9222] = browser
        started = desktop.launch

        def launch(*args: Any, **more: Any) -> None:
            browser.running = True
            started(*args, **more)

        desktop.launch = launch  # type: ignore[method-assign]
        assert running(context) is browser
        assert desktop.open_windows[-1].title == "google-chrome"


class TestShortcuts:
    def test_windows_shortcuts_have_a_description(self, tmp_path: Path) -> None:
        context = folder("Windows", {"a.lnk": lnk("Play 2048"), "broken.LNK": b"no", "b.url": b""})
        result = value(context, "shortcuts_on_desktop", tmp_path)
        assert sorted(result) == ["a.lnk", "broken.LNK"]
        metric = registry.lookup(PluginKind.METRIC, "is_shortcut_on_desktop", "waa")
        assert metric(result, {"type": "description", "description": "2048"}).value == 1.0
        assert metric({"broken.LNK": result["broken.LNK"]}, {"type": "description", "description": "2048"}).value == 0.0

    def test_missing_evidence_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            Shortcuts().read([], {}, tmp_path)
