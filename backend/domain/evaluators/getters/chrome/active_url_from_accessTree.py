"""`active_url_from_accessTree`: the address of the visible page."""
# ruff: noqa: N999 - upstream's name

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._live import LiveTabParams, address, page_evidence
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "active_url_from_accessTree")
class ActiveUrlFromAccessTree(ParameterGetter):
    """`goto_prefix` precedes the address bar's text. The value is the address, None if there is no browser.

    Without an address bar in the accessibility tree, the value is the page that DevTools lists as last used.
    """

    Params = LiveTabParams

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return page_evidence(context)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return address(blobs, LiveTabParams.parse(parameters).goto_prefix)
