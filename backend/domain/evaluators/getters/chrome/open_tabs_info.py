"""`open_tabs_info`: the open pages."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, absence, as_json, json_value, only
from backend.domain.evaluators.getters._live import NO_PAGES
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "open_tabs_info")
class OpenTabsInfo(ParameterGetter):
    """No parameters. The value is a list of `{title, url}`, empty if no browser answers."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        try:
            tabs = context.browser().tabs()
        except GuestRefused as error:
            return [absence("open pages", error, NO_PAGES)]
        return [as_json("open pages", [{"title": tab.title, "url": tab.url} for tab in tabs])]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        blob = only(blobs)
        return [] if blob.data is None else json_value(blob)
