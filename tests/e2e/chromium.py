"""Chromium for tests of pages: windows that fail the test on what no page may do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}

OF_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""Those whose result depends on the theme."""


@contextmanager
def window(browser: Browser, site: str, *, theme: str = "light", width: int = 1440) -> Iterator[Page]:
    """A window that fails the test on script errors, blocked content, and requests to anywhere else."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, base_url=site)  # type: ignore[arg-type]
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on(
        "request", lambda asked: None if asked.url.startswith((site, "blob:", "data:")) else wrong.append(asked.url)
    )
    try:
        yield page
    finally:
        context.close()
    assert wrong == []


def opened(page: Page, address: str) -> None:
    """Opens a page and waits until its scripts have started."""
    page.goto(address)
    page.locator("html[data-ready]").wait_for(state="attached")


def usable(page: Page) -> None:
    """Nothing sticks out on a narrow screen, and axe-core finds nothing in either theme."""
    for theme, rules in (("light", RULES), ("dark", OF_COLOURS)):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        assert [item["id"] for item in Axe().run(page, options=rules).response["violations"]] == []
    page.set_viewport_size({"width": 360, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.set_viewport_size({"width": 1440, "height": 900})
