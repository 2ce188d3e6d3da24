"""`gotoRecreationPage_and_get_html_content`: when a camp site is next available, from its page on recreation.gov."""
# ruff: noqa: N999 - upstream's name

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.evaluators.getters._live import background_page, call, running
from backend.domain.evaluators.getters.chrome._script import Script
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.ports.web import Browser
from backend.domain.registry import PluginKind, register

URL = "https://www.recreation.gov/"
FIELD, SEARCH, RESULT, NEXT = (
    "input#hero-search-input",
    "button.nav-search-button",
    ".search-result-highlight--success",
    "button.next-available",
)
TEXTS = "name => [...document.getElementsByClassName(name)].map(each => each.textContent)"


class _Recreation(Parameters):
    selector: Literal["class"]
    name: str = Field(alias="class")
    order: int = 0


@register(PluginKind.GETTER, "gotoRecreationPage_and_get_html_content")
class GotoRecreationPageAndGetHtmlContent(ParameterGetter):
    """`selector` (`class`), `class`, `order`. The value is `{"expected": {class: text}}`, the rule of another metric.

    It searches for `Diamond`, follows the first result and its button for the next free days. Any failure means no
    verdict, where upstream compares with an error text.
    """

    Params = _Recreation

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        name = _Recreation.parse(parameters).name
        try:
            browser = running(context)
            if browser is None:
                return [Blob(name=URL, note="no browser answers")]
            with background_page(browser, URL) as tab:
                return [as_json(URL, _follow(context, browser, tab.id, name))]
        except GuestRefused as error:
            return [Blob(name=URL, note=error.message)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        params, texts = _Recreation.parse(parameters), json_value(only(blobs))
        if not isinstance(texts, list) or not 0 <= params.order < len(texts):
            raise EvaluatorFailed(f"the page has no {params.name!r} number {params.order}", code="evidence_unreadable")
        return {"expected": {params.name: str(texts[params.order]).strip()}}


def _follow(context: SetupContext, browser: Browser, tab: str, name: str) -> Any:
    start = Script(context.desktop, browser, tab)
    start.fill(FIELD, "Diamond")
    start.click(SEARCH)
    tab_ids = {tab.id for tab in browser.tabs()}
    start.click(RESULT)

    def opened() -> list[str]:
        return [tab.id for tab in browser.tabs() if tab.id not in tab_ids]

    if not look_again(context.desktop, lambda: bool(opened())):
        raise GuestRefused("the search result opened no page", kind="not_found")
    new = opened()[0]
    try:
        site = Script(context.desktop, browser, new)
        try:
            site.click(NEXT)
        except GuestRefused as error:
            if error.kind != "not_found":  # Otherwise the page already shows the next free days.
                raise
        site.wait(f".{name}")
        return browser.evaluate(new, call(TEXTS, name))
    finally:
        browser.close(new)
