"""Clickable elements of visible browser pages, queried over DevTools.

A page reports boxes in its own pixels. The page's position follows from the window's rectangle and the page's size: the
browser's own area is at the top, with equal borders at the sides and below.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.model.trajectory import Window
from backend.domain.observations._marks import MOST_PER_SOURCE, Element
from backend.domain.ports.web import Browser, Tab

_SECONDS = 3.0
_MOST_PAGES = 8
_BROWSERS = ("chrom", "brave", "edge", "opera", "vivaldi")
MOST_TEXT = 500

LOOK = """
(() => {
  if (document.visibilityState !== 'visible') return null;
  const most = MOST, found = [];
  const wanted = 'a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,label,option,video,' +
    'audio,' +
    '[onclick],[contenteditable=""],[contenteditable=true],[tabindex]:not([tabindex="-1"]),' +
    ['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option',
     'textbox', 'searchbox', 'combobox', 'slider', 'spinbutton', 'treeitem', 'gridcell']
      .map(role => `[role=${role}]`).join(',');
  const words = node => {
    const named = node.getAttribute('aria-label') || node.innerText || node.value || node.placeholder ||
      node.title || node.alt || (node.querySelector && node.querySelector('img[alt]') || {}).alt || node.name || '';
    return String(node.type === 'password' ? node.placeholder || 'password' : named).trim().slice(0, LONGEST);
  };
  const look = (root, left, top, clip) => {
    for (const node of root.querySelectorAll('*')) {
      if (found.length >= most) return;
      if (node.shadowRoot) look(node.shadowRoot, left, top, clip);
      if (node.tagName === 'IFRAME') {
        let inner = null;
        try { inner = node.contentDocument; } catch (error) { inner = null; }
        const box = node.getBoundingClientRect();
        const x = left + box.left + node.clientLeft, y = top + box.top + node.clientTop;
        if (inner) look(inner, x, y, [Math.max(clip[0], x), Math.max(clip[1], y),
          Math.min(clip[2], x + node.clientWidth), Math.min(clip[3], y + node.clientHeight)]);
        continue;
      }
      if (!node.matches(wanted)) continue;
      const style = getComputedStyle(node);
      if (style.visibility !== 'visible' || style.opacity === '0' || style.pointerEvents === 'none') continue;
      const box = node.getBoundingClientRect();
      const x1 = Math.max(clip[0], left + box.left), y1 = Math.max(clip[1], top + box.top);
      const x2 = Math.min(clip[2], left + box.right), y2 = Math.min(clip[3], top + box.bottom);
      if (x2 - x1 < 2 || y2 - y1 < 2) continue;
      const hit = (root.elementFromPoint ? root : document)
        .elementFromPoint((x1 + x2) / 2 - left, (y1 + y2) / 2 - top);
      if (!hit || !(node.contains(hit) || hit.contains(node))) continue;
      found.push([node.tagName.toLowerCase(), node.getAttribute('role') || '', words(node), x1, y1, x2, y2]);
    }
  };
  look(document, 0, 0, [0, 0, innerWidth, innerHeight]);
  return {width: innerWidth, height: innerHeight, ratio: devicePixelRatio, found};
})()
""".replace("MOST", str(MOST_PER_SOURCE)).replace("LONGEST", str(MOST_TEXT))


def clickable(browser: Browser, windows: Sequence[Window]) -> tuple[list[Element], str]:
    """The elements of every visible page.

    Args:
        browser: a browser that offers DevTools.
        windows: of the desktop, bottom to top.

    Returns:
        Elements in screen pixels, and a note for the agent if a page did not answer.
    """
    try:
        tabs = browser.tabs()[:_MOST_PAGES]
    except GuestRefused:
        return [], ""  # Without a browser there is nothing to mark.
    elements: list[Element] = []
    silent: list[str] = []
    for tab in tabs:
        try:
            elements += _of_page(browser, tab, windows)
        except GuestRefused as error:
            # A page in an endless loop or with an open question is the agent's to deal with, not the desktop's failure.
            if error.kind not in {"not_found", "no_browser"}:
                silent.append((tab.title or tab.url)[:100])
    message = (
        f"A page of the browser does not answer, so nothing on it is marked: {', '.join(silent)}." if silent else ""
    )
    return elements[:MOST_PER_SOURCE], message


def _of_page(browser: Browser, tab: Tab, windows: Sequence[Window]) -> list[Element]:
    reply = browser.evaluate(tab.id, LOOK, timeout=_SECONDS)
    if not isinstance(reply, Mapping):
        return []  # It is not visible.
    size = [_number(reply.get(name)) for name in ("width", "height", "ratio")]
    window = window_of(tab, windows)
    if window is None or min(size) <= 0:
        return []
    origin = page_origin(window, *size)
    above = windows[windows.index(window) + 1 :]
    rows = reply.get("found")
    elements = (_element(row, origin, size[2]) for row in (rows if isinstance(rows, list) else [])[:MOST_PER_SOURCE])
    return [element for element in elements if element is not None and not _covered(element, above)]


def window_of(tab: Tab, windows: Sequence[Window]) -> Window | None:
    """A page's window: the topmost browser window with its title, else the topmost browser window."""
    browsers = [window for window in reversed(windows) if any(name in window.wm_class.lower() for name in _BROWSERS)]
    titled = [window for window in browsers if tab.title and window.title.startswith(tab.title)]
    return next(iter(titled or browsers), None)


def page_origin(window: Window, width: float, height: float, ratio: float) -> tuple[float, float]:
    """Screen position of the page's top left corner. Args: width, height: of the page, in its own pixels."""
    edge = max(0.0, (window.width - width * ratio) / 2)
    return window.x + edge, max(float(window.y), window.y + window.height - edge - height * ratio)


def _element(row: Any, origin: tuple[float, float], ratio: float) -> Element | None:
    """One row of a page's answer, which is untrusted."""
    if not isinstance(row, list) or len(row) != 7:  # noqa: PLR2004 - as LOOK makes them
        return None
    tag, role, text = (str(part)[:MOST_TEXT] for part in row[:3])
    x1, y1, x2, y2 = (_number(part) * ratio for part in row[3:])
    left, top = math.floor(origin[0] + x1), math.floor(origin[1] + y1)
    right, bottom = math.ceil(origin[0] + x2), math.ceil(origin[1] + y2)
    if right <= left or bottom <= top:
        return None
    plain = " ".join(text.split())
    return Element("control", plain, left, top, right - left, bottom - top, "dom", role or tag, plain)


def _number(value: Any) -> float:
    """A number of a page, 0 if invalid; bounded, so that sums remain pixels."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return max(-1e6, min(1e6, float(value)))


def _covered(element: Element, above: Sequence[Window]) -> bool:
    """Whether another window covers its middle."""
    x, y = element.x + element.width // 2, element.y + element.height // 2
    return any(box.x <= x < box.x + box.width and box.y <= y < box.y + box.height for box in above)
