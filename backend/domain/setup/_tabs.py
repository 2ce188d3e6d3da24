"""Shared parts of `chrome_open_tabs`, `edge_open_tabs` and `chrome_close_tabs`."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.availability import why_silent
from backend.domain.errors import GuestRefused, TaskSetupFailed
from backend.domain.formats import url_match
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.ports.web import Browser, Tab

LOAD_SECONDS = 60.0
_LOOKS = 300  # 75 s, as in upstream


class _Open(Parameters):
    urls_to_open: tuple[str, ...]


class OpenTabs:
    """`urls_to_open`. Waits for the browser, opens each page, and closes the initial one.

    A page that is still loading after a minute is accepted, as upstream; an unavailable one is an error.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Open.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        browser = await_browser(context)
        first = list(browser.tabs())[-1:]
        for url in _Open.parse(parameters).urls_to_open:
            try:
                browser.open(url, timeout=LOAD_SECONDS)
            except GuestRefused as error:
                if error.kind != "timeout":
                    raise TaskSetupFailed(
                        f"{url} does not open: {error.message}", code="page_not_opened", hint=error.hint
                    ) from error
            # Not before another is open: the browser would end with its last page.
            while first:
                browser.close(first.pop().id)


class _Close(Parameters):
    urls_to_close: tuple[str, ...]


class CloseTabs:
    """`urls_to_close`. Waits for the browser and for each page, and closes it. One that never appears is a failure."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Close.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        browser = await_browser(context)
        for url in _Close.parse(parameters).urls_to_close:
            tabs: list[Tab] = []

            def is_open(url: str = url, tabs: list[Tab] = tabs) -> bool:
                tabs[:] = [tab for tab in browser.tabs() if _same(tab.url, url)]
                return bool(tabs)

            if not look_again(context.desktop, is_open):
                raise TaskSetupFailed(
                    f"no page {url} is open; there are {[tab.url for tab in browser.tabs()]}", code="page_not_open"
                )
            browser.close(tabs[0].id)


def await_browser(context: SetupContext) -> Browser:
    """The browser, once it answers. Raises TaskSetupFailed if it never does."""
    browser = context.browser()
    reason = ""

    def answers() -> bool:
        nonlocal reason
        reason = why_silent(browser)
        return not reason

    if not look_again(context.desktop, answers, looks=_LOOKS):
        raise TaskSetupFailed(
            f"no browser answers: {reason}",
            code="browser_not_reachable",
            hint="The task must start it with --remote-debugging-port.",
        )
    return browser


def _same(first: str, second: str) -> bool:
    """A site may lead to its page for another country: which page is meant is clear all the same."""
    return url_match.same(first, second) or url_match.same_osworld(first, second)
