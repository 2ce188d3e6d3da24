"""Shared parts of getters of pages: which page is visible, and opening a page to inspect it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import unquote

from backend.domain.browser.availability import why_silent
from backend.domain.browser.profiles import CHROME
from backend.domain.errors import EvaluatorFailed, GuestRefused, Invalid, TaskSetupFailed
from backend.domain.evaluators.getters._evidence import absence, as_json, json_value
from backend.domain.formats.accessibility import searchable
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.ports.web import Browser, Tab
from backend.domain.setup import run_step

BAR = "Address and search bar"
APPLICATIONS = frozenset({"Google Chrome", "Chromium", "Chromium Web Browser", "Microsoft Edge"})
DEBUGGING = "--remote-debugging-port=1337"
SETTLE_SECONDS = 20.0
_OF_BROWSERS = "chrom"
"""Part of the class or title of their windows: `google-chrome`, `chromium`, `Chrome_WidgetWin_1`."""
_WINDOWS_ROLE = "chrome_widgetwin_1"  # a window of any Chromium browser in trees of Windows
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:(//|blank)")
NO_PAGES = frozenset({"no_browser", "refused", "not_found", "too_large"})
"""Refusals that describe the end state: a closed browser, or one with addresses of megabytes.

A slow browser (`timeout`) has pages that are unknown.
"""
_MOST_LOOKED_AT = 20
_MOST_SHOWN = 4
_MAX_CONTENT = 16 * 2**20
_SETTLE = """new Promise(done => {
  let last = -1, still = 0, looks = 0;
  const timer = setInterval(() => {
    const now = performance.getEntriesByType('resource').length + document.querySelectorAll('*').length;
    still = now === last && document.readyState === 'complete' ? still + 1 : 0;
    last = now;
    looks += 1;
    if (still >= 4 || looks >= 40) { clearInterval(timer); done(still >= 4); }
  }, 250);
})"""
"""True once nothing has been added to the page for one second; false after ten."""


class LiveTabParams(Parameters):
    """`goto_prefix`: prefix that the address bar omits; `xpath`, `selectors`, `_note`: without effect."""

    goto_prefix: str = "https://"
    xpath: Any = None
    selectors: Any = None


def page_evidence(context: SetupContext, look: Callable[[Browser, Tab], Mapping[str, Any]] | None = None) -> list[Blob]:
    """Evidence of the visible page: the accessibility tree, the pages listed by DevTools, and the results of `look`.

    Several windows show several pages. The absence of a browser is evidence as well.

    Raises:
        GuestRefused: the browser is slow, or DevTools reaches none and the tree is unavailable.
    """
    silent: GuestRefused | None = None
    try:
        tree = Blob(
            name="accessibility tree", data=context.desktop.accessibility_tree().encode(), media_type="text/xml"
        )
    except GuestRefused as error:
        tree, silent = Blob(name="accessibility tree", note=error.message), error
    browser = context.browser()
    try:
        tabs = list(browser.tabs())
    except GuestRefused as error:
        none = absence("open pages", error, NO_PAGES)
        # Then only the tree can show a page: a browser may run without a DevTools port.
        if silent is not None and silent.may_pass:
            raise silent from error
        return [tree, none]
    listed = as_json("open pages", [tab.model_dump() for tab in tabs])
    if look is None:
        return [tree, listed]
    looks = [(tab, _shows(browser, tab)) for tab in tabs[:_MOST_LOOKED_AT]]
    # A page whose visibility is unknown may be the right one, so it is inspected as well.
    order = [tab for state in (True, None) for tab, shows in looks if shows is state]
    candidates = order[:_MOST_SHOWN] or tabs[:1]
    return [tree, listed, *(_look_at(browser, tab, look) for tab in candidates)]


def _shows(browser: Browser, tab: Tab) -> bool | None:
    """Whether the page is visible; None if it does not answer in time."""
    try:
        return bool(browser.evaluate(tab.id, "document.visibilityState", timeout=3.0) != "hidden")
    except GuestRefused as error:
        return None if error.kind == "timeout" else False


def _look_at(browser: Browser, tab: Tab, look: Callable[[Browser, Tab], Mapping[str, Any]]) -> Blob:
    name = f"page {tab.url[:200]}"
    try:
        return as_json(name, {"url": tab.url, "title": tab.title, **look(browser, tab)})
    except GuestRefused as error:
        return as_json(name, {"url": tab.url, "title": tab.title}, note=error.message)


def address(blobs: Sequence[Blob], prefix: str) -> str | None:
    """The visible page's address: the address bar's text with the prefix; None if there is no browser.

    Without an address bar in the tree, the first page in DevTools' list: the one used last.

    Raises:
        EvaluatorFailed: the evidence is damaged.
    """
    if len(blobs) < 2:  # noqa: PLR2004 - the tree and the pages
        raise EvaluatorFailed(
            f"expected a tree and a list of pages, got {len(blobs)} pieces of evidence", code="evidence_mismatch"
        )
    text = _bar(blobs[0])
    if text:
        return text if _SCHEME.match(text) else f"file://{text}" if text.startswith("/") else f"{prefix}{text}"
    pages = json_value(blobs[1]) if blobs[1].data is not None else []
    return str(pages[0]["url"]) if pages else None


def page(blobs: Sequence[Blob], prefix: str) -> Mapping[str, Any] | None:
    """The result of `look` on the visible page; None if no browser answered.

    Raises:
        EvaluatorFailed: the page exists but could not be inspected.
    """
    url, pages = address(blobs, prefix), [json_value(blob) for blob in blobs[2:]]
    if url is None or not pages:
        return None
    index = next((n for n, page in enumerate(pages) if _bare(str(page.get("url", ""))) == _bare(url)), 0)
    note = blobs[2 + index].note
    if note:
        raise EvaluatorFailed(
            f"the page {pages[index].get('url')} could not be inspected: {note}", code="evidence_unreadable"
        )
    return dict(pages[index])


def _bar(blob: Blob) -> str:
    """The address bar's text, of the active window if there are several."""
    if blob.data is None:
        return ""
    try:
        root = searchable(blob.data.decode(errors="replace"))
    except Invalid as error:
        raise EvaluatorFailed(error.message, code="evidence_unreadable") from error
    texts: list[tuple[bool, str]] = []
    for element in root.iter():
        if element.get("name") == BAR:
            around = list(element.iterancestors())
            text = (element.text or _attribute(element, "value") or "").strip()
            if text and any(_is_browser(neighbor) for neighbor in around):
                texts.append((any(_attribute(neighbor, "active") == "true" for neighbor in around), text))
    return next((text for active, text in texts if active), texts[0][1] if texts else "")


def _is_browser(element: Any) -> bool:
    tag = element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""
    return tag == _WINDOWS_ROLE or (tag == "application" and element.get("name") in APPLICATIONS)


def _attribute(element: Any, name: str) -> str | None:
    """An attribute by its local name, in any namespace."""
    return next((str(value) for key, value in element.attrib.items() if key.rsplit("}", 1)[-1] == name), None)


def _bare(url: str) -> str:
    return re.sub(r"^[a-z]+://(www\.)?", "", unquote(url)).rstrip("/")


def content(browser: Browser, tab: Tab) -> Mapping[str, Any]:
    """The page's document. Raises GuestRefused `too_large`."""
    html = browser.content(tab.id)
    if len(html) > _MAX_CONTENT:
        raise GuestRefused(f"the page has {len(html)} letters", kind="too_large")
    return {"content": html}


def running(context: SetupContext) -> Browser | None:
    """The browser, started if needed; None if it is not installed or runs without a DevTools port.

    A browser that already runs without the port opens the new window without it: this is the state that the agent left.

    Raises:
        GuestRefused: it is slow, or it was started and no window appeared.
    """
    browser = context.browser()
    if not why_silent(browser):
        return browser
    try:
        with suppress(TaskSetupFailed):  # The missing window is detected below.
            run_step(context, "launch", {"command": [CHROME.program, DEBUGGING]})
    except GuestRefused as error:
        absence("browser", error)
        return None
    if look_again(context.desktop, lambda: not why_silent(browser)):
        return browser
    if not any(_OF_BROWSERS in f"{window.wm_class} {window.title}".lower() for window in context.desktop.windows()):
        raise GuestRefused("the browser was started, but no window opened", kind="timeout")
    return None


@contextmanager
def background_page(browser: Browser, url: str, *, settled: bool = True, timeout: float = 60.0) -> Any:
    """Opens a page in the background, inspects it and closes it. A page that keeps loading is taken as it is.

    Raises:
        GuestRefused: the page cannot be opened.
    """
    before = {tab.id for tab in browser.tabs()}
    try:
        tab = browser.open(url, timeout=timeout, background=True)
    except GuestRefused as error:
        slow = [tab for tab in browser.tabs() if tab.id not in before]
        if error.kind != "timeout" or not slow:
            raise
        tab = slow[0]
    try:
        if settled:
            with suppress(GuestRefused):
                browser.evaluate(tab.id, _SETTLE, timeout=SETTLE_SECONDS)
        yield tab
    finally:
        with suppress(GuestRefused):
            browser.close(tab.id)


def call(script: str, argument: object) -> str:
    """The expression that calls a JavaScript function with one JSON value."""
    return f"({script})({json.dumps(argument)})"
