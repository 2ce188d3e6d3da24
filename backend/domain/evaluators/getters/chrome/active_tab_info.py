"""`active_tab_info`: title, address and document of the visible page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._live import LiveTabParams, address, content, page, page_evidence
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "active_tab_info")
class ActiveTabInfo(ParameterGetter):
    """`goto_prefix`. The value is `{title, url, content}`, None if there is no browser.

    Upstream opens the address again in a window without cookies; this getter inspects the page itself. For a browser
    that the agent started without DevTools only the address is known.
    """

    Params = LiveTabParams

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return page_evidence(context, content)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        prefix = LiveTabParams.parse(parameters).goto_prefix
        tab = page(blobs, prefix)
        if tab is not None:
            return {key: tab.get(key, "") for key in ("title", "url", "content")}
        url = address(blobs, prefix)
        return None if url is None else {"title": "", "url": url, "content": ""}
