"""Set-up steps and getters of browsers against Debian's Chromium on a real desktop."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.loop.polling import look_again
from backend.domain.machines.slots import SlotRef
from backend.domain.model.score import Blob
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from backend.domain.registry import PluginKind
from backend.domain.setup import run_step
from tests.error_codes import raises_code
from tests.factories.starter_tasks import make_task
from tests.fakes.web import FakeWeb
from worker.attempt.task_context import TaskContext
from worker.devtools.servers import Servers
from worker.providers.local import LocalProvider

pytestmark = [pytest.mark.desktop, pytest.mark.browser]
HOME = "/home/user"
SHOP = f"file://{HOME}/shop.html"
PAGES = {
    "shop.html": """<!DOCTYPE html><title>Shop</title>
        <div class="date">\n  Mon, Dec 7 \n</div><div class="place">SEA<i>to</i>NYC</div>
        <section class="card"><h3> First </h3></section><section class="card"><h3>Second</h3></section>
        <div id="host"></div><form><input name="who" value="old"></form><button aria-label="go">Search now</button>
        <ul class="crumbs"><li class="catAllProducts"><span>Toys</span></li></ul>
        <a id="go" href="paper.html">paper</a>
        <script>
          document.querySelector('input').value = 'James';
          const root = document.getElementById('host').attachShadow({mode: 'open'});
          root.innerHTML = '<b class="filter">Black</b><b class="filter">On sale</b>';
        </script>""",
    "paper.html": '<title>Paper</title><a class="paper" href="https://hal.example/x">Read</a><p>Words to print</p>',
    "late.html": "<title>Late</title><script>setTimeout(() => document.body.append('The Soundtrack'), 1200)</script>",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenDesktop]:
    """A desktop with pages in its home."""
    if shutil.which("chromium") is None:
        pytest.skip("needs Chromium: make setup APPS=full")
    registry.load()
    provider = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("browser")))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    made = provider.open(SlotRef(0), DesktopSpec())
    try:
        for name, text in PAGES.items():
            made.desktop.write_file(f"{HOME}/{name}", text.encode())
        yield made
    finally:
        made.close()
        provider.close()


@pytest.fixture(scope="module")
def context(opened: OpenDesktop) -> Iterator[TaskContext]:
    """A browser with a past, which shows the shop."""
    servers = Servers(opened)
    task = make_task().model_copy(update={"dialect": "osworld"})
    made = TaskContext(opened.desktop, task, FakeWeb(), {}, lambda _: b"", servers)
    past = {"url": "https://www.youtube.com/watch?v=1", "title": "Song", "visit_time_from_now_in_seconds": 3600}
    run_step(made, "update_browse_history", {"history": [past]})
    run_step(made, "launch", {"command": ["google-chrome", "--remote-debugging-port=1337"]})
    run_step(made, "launch", {"command": ["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"]})
    run_step(made, "chrome_open_tabs", {"urls_to_open": [f"file://{HOME}/paper.html", SHOP]})
    yield made
    servers.close()


def value(context: TaskContext, name: str, folder: Path, **parameters: Any) -> Any:
    """A getter's result."""
    getter = registry.lookup(PluginKind.GETTER, name, "osworld")()
    getter.check(parameters)
    blobs = [Blob.model_validate(blob.model_dump()) for blob in getter.collect(context, parameters)]
    return getter.read(blobs, parameters, folder)


def parsed(context: TaskContext, folder: Path, category: str, **parameters: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = value(context, "active_tab_html_parse", folder, category=category, **parameters)
    return found


def urls(context: TaskContext) -> list[str]:
    return [tab.url for tab in context.browser().tabs()]


class TestOpenedPages:
    def test_opened_pages_are_listed(self, context: TaskContext, tmp_path: Path) -> None:
        found = {(tab["title"], tab["url"]) for tab in value(context, "open_tabs_info", tmp_path)}
        assert found == {("Shop", SHOP), ("Paper", f"file://{HOME}/paper.html")}

    def test_the_last_one_shows(self, context: TaskContext, tmp_path: Path) -> None:
        assert value(context, "active_url_from_accessTree", tmp_path, goto_prefix="https://www.") == SHOP

    def test_address_parts_of_the_active_page(self, context: TaskContext, tmp_path: Path) -> None:
        part = {"partIndex": -1, "needDeleteId": False, "returnType": "string"}
        assert value(context, "url_dashPart", tmp_path, **part) == "shop.html"

    def test_document_of_the_active_page(self, context: TaskContext, tmp_path: Path) -> None:
        found = value(context, "active_tab_info", tmp_path)
        assert (found["title"], found["url"]) == ("Shop", SHOP)
        assert 'class="date"' in found["content"]


class TestPartsOfThePage:
    def test_parts_are_found_by_class(self, context: TaskContext, tmp_path: Path) -> None:
        found = parsed(
            context, tmp_path, "class", class_singleObject={"date": "time", "gone": "none"},
            class_multiObject={"place": {"0": "all", "7": "no"}},
            class_multiObject_child={"place": {"0": "a", "1": "b"}},
            class_multiObject_only_child={"card": {"1": "second"}},
        )  # fmt: skip
        assert found == {
            "time": "Mon, Dec 7", "none": "", "all": "SEAtoNYC", "no": "", "a": "SEA", "b": "NYC", "second": "Second",
        }  # fmt: skip

    def test_into_shadow_roots(self, context: TaskContext, tmp_path: Path) -> None:
        names = ["Black", "$25 - $60", "is_other_exist"]
        found = parsed(context, tmp_path, "class", class_multiObject_search_exist={"filter": names})
        assert found == {"Black": True, "$25 - $60": False, "is_other_exist": True}

    def test_parts_are_found_by_xpath(self, context: TaskContext, tmp_path: Path) -> None:
        wanted = {"//button[@aria-label='go']": "button", "//table": "none", "///": "wrong"}
        assert parsed(context, tmp_path, "xpath", xpathObject=wanted) == {
            "button": "Search now", "none": "", "wrong": "",
        }  # fmt: skip

    def test_the_current_value_of_a_field_is_read(self, context: TaskContext, tmp_path: Path) -> None:
        assert parsed(context, tmp_path, "input", inputObject={"/html/body/form/input": "name"}) == {"name": "James"}

    def test_parts_are_found_by_label(self, context: TaskContext, tmp_path: Path) -> None:
        assert parsed(context, tmp_path, "label", labelObject={"search": "label"}) == {"label": "Search now"}

    def test_text_and_address_are_parsed(self, context: TaskContext, tmp_path: Path) -> None:
        found = parsed(
            context, tmp_path, "class&url", class_multiObject_li={"crumbs": ["Toys", "Kids"]},
            url_include_expected=["shop", "Kids"],
        )  # fmt: skip
        assert found == {"toys": True, "is_other_exist": False, "shop": True, "kids": False}


class TestPagesLookedUp:
    """None of them changes what shows."""

    @pytest.fixture(autouse=True)
    def unchanged(self, context: TaskContext) -> Iterator[None]:
        before = urls(context)
        yield
        assert urls(context) == before

    def test_late_content_is_read(self, context: TaskContext, tmp_path: Path) -> None:
        assert "The Soundtrack" in value(context, "page_info", tmp_path, url=f"file://{HOME}/late.html")["content"]

    def test_a_page_is_printed(self, context: TaskContext, tmp_path: Path) -> None:
        path = value(context, "pdf_from_url", tmp_path, path=f"file://{HOME}/paper.html", dest="gold.pdf")
        metric = registry.lookup(PluginKind.METRIC, "compare_pdfs")
        assert metric(path, path).value == 1.0
        assert (
            registry.lookup(PluginKind.METRIC, "check_pdf_pages")(path, {"relation": "eq", "ref_value": 1}).value == 1.0
        )

    def test_texts_and_attributes_after_clicks(self, context: TaskContext, tmp_path: Path) -> None:
        infos = [
            {"action": "inner_text", "selector": ".card h3"},
            {"action": "click_and_attribute", "selector": ["#go", "a.paper"], "attribute": "href"},
        ]
        assert value(context, "info_from_website", tmp_path, url=SHOP, infos=infos) == [
            "First",
            "https://hal.example/x",
        ]

    def test_a_page_that_cannot_be_had(self, context: TaskContext, tmp_path: Path) -> None:
        infos = [{"selector": "p"}]
        backups = ["from the task"]
        found = value(context, "info_from_website", tmp_path, url="http://127.0.0.1:2/", infos=infos, backups=backups)
        assert found == backups
        with raises_code(EvaluatorFailed, "evidence_unreadable", mentions="127.0.0.1"):
            value(context, "info_from_website", tmp_path, url="http://127.0.0.1:2/", infos=infos)

    def test_light_and_dark(self, context: TaskContext, tmp_path: Path) -> None:
        assert value(context, "chrome_appearance_mode_ui", tmp_path) == "system"


class TestClosedPages:
    def test_open_page_is_closed(self, context: TaskContext) -> None:
        run_step(context, "chrome_close_tabs", {"urls_to_close": [f"file://{HOME}/paper.html"]})
        assert urls(context) == [SHOP]


@pytest.fixture(scope="module")
def ended(context: TaskContext) -> TaskContext:
    """The browser was ended, so that it has saved its state."""
    context.desktop.execute("pkill -f remote-debugging-port", shell=True)

    def gone() -> bool:
        try:
            context.browser().tabs()
        except GuestRefused:
            return True
        return False

    assert look_again(context.desktop, gone)
    return context


class TestProfile:
    """Last, because the browser has to end for it."""

    def test_settings_have_their_defaults(self, ended: TaskContext, tmp_path: Path) -> None:
        wanted = {
            "enable_do_not_track": "false", "enable_safe_browsing": "true", "new_startup_page": "true",
            "data_delete_automacally": "false", "chrome_language": "en-US", "enabled_experiments": [],
        }  # fmt: skip
        assert {name: value(ended, name, tmp_path) for name in wanted} == wanted
        assert value(ended, "chrome_font_size", tmp_path)["default_font_size"] == 16

    def test_the_past_is_remembered(self, ended: TaskContext, tmp_path: Path) -> None:
        history = value(ended, "history", tmp_path, dest="history.sqlite")
        assert "https://www.youtube.com/watch?v=1" in [row[0] for row in history]
        rule = {"type": "keywords", "keywords": ["youtube"]}
        assert registry.lookup(PluginKind.METRIC, "check_history_deleted")(history, rule).value == 0.0

    def test_cookies_and_bookmarks(self, ended: TaskContext, tmp_path: Path) -> None:
        assert value(ended, "cookie_data", tmp_path, dest="Cookies") in ([], None)
        assert isinstance(value(ended, "bookmarks", tmp_path), dict | list)

    def test_no_page_is_open(self, ended: TaskContext, tmp_path: Path) -> None:
        assert value(ended, "open_tabs_info", tmp_path) == []
