"""`page_info`: a page, opened in the desktop's browser with its cookies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.evaluators.getters._live import background_page, content, running
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Page(Parameters):
    url: str
    load_state: Literal["load", "domcontentloaded", "networkidle"] = "networkidle"


@register(PluginKind.GETTER, "page_info")
class PageInfo(ParameterGetter):
    """`url`, `load_state` (`networkidle`: once nothing has been added for a second).

    The value is `{title, url, content}`, dated evidence of what the site showed to this browser. None if no browser
    answers or can be started (see `running`). An unavailable page means no verdict.
    """

    Params = _Page

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Page.parse(parameters)
        browser = running(context)
        if browser is None:
            return [Blob(name=params.url, note="no browser answers")]
        with background_page(browser, params.url, settled=params.load_state == "networkidle") as tab:
            location = browser.evaluate(tab.id, "[location.href, document.title]") or [tab.url, tab.title]
            return [as_json(params.url, {"title": location[1], "url": location[0], **content(browser, tab)})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        blob = only(blobs)
        return None if blob.data is None else json_value(blob)
