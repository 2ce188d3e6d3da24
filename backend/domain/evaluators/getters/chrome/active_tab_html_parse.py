"""`active_tab_html_parse`: parts of the visible page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._live import address, call, content, page, page_evidence
from backend.domain.evaluators.getters.chrome._parts import SCRIPT, PageParts, parts, query
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.ports.web import Browser, Tab
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "active_tab_html_parse")
class ActiveTabHtmlParse(ParameterGetter):
    """`goto_prefix`, `category` and its parameters: classes, labels, XPaths, inputs, words of filters.

    The value maps the task's names to texts, empty where the page has none. None if there is no browser, an empty
    object if it has no DevTools. The page's document is stored as evidence with the script's results.
    """

    Params = PageParts

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        script = call(SCRIPT, query(PageParts.parse(parameters)))

        def look(browser: Browser, tab: Tab) -> Mapping[str, Any]:
            return {"found": browser.evaluate(tab.id, script), **content(browser, tab)}

        return page_evidence(context, look)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        params = PageParts.parse(parameters)
        tab = page(blobs, params.goto_prefix)
        if tab is None:
            return None if address(blobs, params.goto_prefix) is None else {}
        if not isinstance(tab.get("found"), Mapping):
            raise EvaluatorFailed(f"the page {tab.get('url')} did not report its content", code="evidence_unreadable")
        return parts(params, tab["found"], str(tab.get("url", "")))
