"""`number_of_search_results`: the number of results of a fixed search. No published task uses it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.evaluators.getters._live import background_page, running
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

URL, RESULT = "https://google.com/search?q=query", ".search-result"


@register(PluginKind.GETTER, "number_of_search_results")
class NumberOfSearchResults(ParameterGetter):
    """No parameters: upstream's address and selector are fixed. The value is a number."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        browser = running(context)
        if browser is None:
            return [Blob(name=URL, note="no browser answers")]
        with background_page(browser, URL) as tab:
            return [as_json(URL, browser.evaluate(tab.id, f"document.querySelectorAll('{RESULT}').length"))]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        count = json_value(only(blobs))
        if not isinstance(count, int):
            raise EvaluatorFailed("the page did not report its number of results", code="evidence_unreadable")
        return count
