"""Set-up steps of browsers."""

import sqlite3
import tempfile
from pathlib import Path

from tests.factories.setup_cases import SetupCase
from tests.factories.starter_tasks import FakeContext
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop

FIRST, SECOND = "https://www.example.org/", "https://two.example/a"
HISTORY = [{"url": FIRST, "title": "One", "visit_time_from_now_in_seconds": 3600}]
CHROME = "~/.config/google-chrome/Default/History"
EDGE = "~/.config/microsoft-edge/Default/History"


def place() -> FakeContext:
    """A desktop whose browser shows a new tab."""
    desktop = FakeDesktop()
    browser = FakeBrowser({FIRST: "<p>one</p>", SECOND: "<p>two</p>"}, desktop=desktop)
    browser.open("chrome://newtab/")
    return FakeContext(desktop, browsers={9222: browser})


def opened() -> FakeContext:
    """One that shows both pages."""
    opened_place = place()
    for url in (FIRST, SECOND):
        opened_place.browser().open(url)
    return opened_place


def open_urls(context: FakeContext) -> list[str]:
    return sorted(tab.url for tab in context.browser().tabs())


def remembered(context: FakeContext, path: str) -> list[tuple[str, str]]:
    """Addresses and titles in a written history."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "History"
        file.write_bytes(context.desktop.files[path])
        connection = sqlite3.connect(file)
        visits = connection.execute("SELECT urls.url, title FROM urls JOIN visits ON visits.url = urls.id").fetchall()
        connection.close()
        return visits


def _again(context: FakeContext) -> None:
    context.browser().open(SECOND)


OPEN = SetupCase(
    parameters={"urls_to_open": [FIRST, SECOND]},
    place=place,
    done=lambda context: set(open_urls(context)) == {FIRST, SECOND},
    bare=lambda: FakeContext(FakeDesktop()),
)
CASES = {
    "chrome_open_tabs": OPEN,
    "edge_open_tabs": OPEN,
    "chrome_close_tabs": SetupCase(
        parameters={"urls_to_close": [SECOND]},
        place=opened,
        done=lambda context: SECOND not in open_urls(context),
        bare=place,
        again=_again,
    ),
    "update_browse_history": SetupCase(
        parameters={"history": HISTORY},
        place=place,
        done=lambda context: remembered(context, CHROME) == [(FIRST, "One")],
    ),
    "update_browse_history_edge": SetupCase(
        parameters={"history": HISTORY},
        place=place,
        done=lambda context: remembered(context, EDGE) == [(FIRST, "One")],
    ),
}
