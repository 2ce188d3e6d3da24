"""Steps on a page that is opened in the background: waits, clicks, texts."""

import json
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.loop.polling import look_again
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.web import Browser

_LOOKS = 40  # about 10 s


class Script:
    """One page. Every step raises GuestRefused if it cannot be done."""

    def __init__(self, desktop: Desktop, browser: Browser, tab: str) -> None:
        self._desktop, self._browser, self.tab = desktop, browser, tab

    def wait(self, selector: str) -> None:
        """Waits until the page has an element for that CSS selector."""
        if not look_again(self._desktop, lambda: bool(self._wait_for(selector)), looks=_LOOKS):
            raise GuestRefused(f"the page has no {selector!r}", kind="not_found")

    def click(self, selector: str) -> None:
        """Clicks the first element for that selector, once it exists."""
        self.wait(selector)
        self._evaluate(selector, "element.scrollIntoView({block: 'center'}); element.click(); return true")

    def fill(self, selector: str, text: str) -> None:
        """Fills a field at once, with the events that page scripts expect."""
        self.wait(selector)
        setter = "Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value').set"
        events = "for (const name of ['input', 'change']) element.dispatchEvent(new Event(name, {bubbles: true}))"
        self._evaluate(selector, f"{setter}.call(element, {json.dumps(text)}); {events}; return true")

    def text(self, selector: str) -> Any:
        """The visible text."""
        self.wait(selector)
        return self._evaluate(selector, "return element.innerText")

    def attribute(self, selector: str, name: str) -> Any:
        """An attribute's raw value."""
        self.wait(selector)
        return self._evaluate(selector, f"return element.getAttribute({json.dumps(name)})")

    def _wait_for(self, selector: str) -> Any:
        try:
            return self._browser.evaluate(
                self.tab,
                f"document.readyState !== 'loading' && document.querySelector({json.dumps(selector)}) !== null",
            )
        except GuestRefused as error:
            if error.kind != "failed":  # While it navigates, the page does not answer for a moment.
                raise
            return False

    def _evaluate(self, selector: str, body: str) -> Any:
        element = f"document.querySelector({json.dumps(selector)})"
        return self._browser.evaluate(self.tab, f"(element => {{ {body} }})({element})")
