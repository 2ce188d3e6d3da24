"""Chromium for tests of pages: windows that fail the test on what no page may do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

# Five seconds, which Playwright waits by itself, are little for a busy machine.
expect.set_options(timeout=60_000)

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
ONLY_VIOLATIONS = {"resultTypes": ["violations"]}
"""Else axe-core describes every element that keeps a rule, too, which takes most of its time."""
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    **ONLY_VIOLATIONS,
}

OF_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}, **ONLY_VIOLATIONS}
"""Those whose result depends on the theme."""


@contextmanager
def window(
    browser: Browser, site: str, *, theme: str = "light", width: int = 1440, refusals: bool = False
) -> Iterator[Page]:
    """A window that fails the test on script errors, blocked content, and requests to anywhere else.

    With `refusals`, forms may come back with what is wrong in them (422).
    """
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
    assert [text for text in wrong if not (refusals and "status of 422" in text)] == []


@contextmanager
def slow(browser: Browser, site: str, *, refusals: bool = False) -> Iterator[Page]:
    """A window of 1280x720 on a processor a quarter as fast, behind 1.5 Mbit/s."""
    with window(browser, site, refusals=refusals) as page:
        page.set_viewport_size({"width": 1280, "height": 720})
        tools = page.context.new_cdp_session(page)
        tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        speed = 1_500_000 / 8
        line = {"offline": False, "latency": 40, "downloadThroughput": speed, "uploadThroughput": speed}
        tools.send("Network.emulateNetworkConditions", line)
        page.set_default_timeout(60_000)
        yield page


def be(page: Page, name: str) -> None:
    """From now on this person acts in the browser."""
    page.locator("#you").fill(name)
    page.locator("form.you button").click()
    expect(page.locator("#you")).to_have_value(name)


def laid_out(page: Page) -> None:
    """Content out of sight takes its room, too, until the next page is opened."""
    page.evaluate(
        "() => { const sheet = new CSSStyleSheet();"
        " sheet.replaceSync('* { content-visibility: visible !important }');"
        " document.adoptedStyleSheets.push(sheet); }"
    )


def opened(page: Page, address: str) -> None:
    """Opens a page and waits until its scripts have started."""
    page.goto(address)
    page.locator("html[data-ready]").wait_for(state="attached")


def usable(page: Page) -> None:
    """Nothing sticks out on a narrow screen, and axe-core finds nothing in either theme."""
    laid_out(page)
    for theme, rules in (("light", RULES), ("dark", OF_COLOURS)):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        assert [item["id"] for item in Axe().run(page, options=rules).response["violations"]] == []
    page.set_viewport_size({"width": 360, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.set_viewport_size({"width": 1440, "height": 900})
