"""`default_browser`: the program that opens web pages on Windows. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.settings._registry import query_registry, texts
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KEY = r"HKCU\Software\Microsoft\Windows\Shell\Associations\UrlAssociations\http\UserChoice"


@register(PluginKind.GETTER, "default_browser")
class DefaultBrowser(ParameterGetter):
    """No parameters. The value is the program's id (`ChromeHTML`), None if none was chosen."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [query_registry(context, KEY, "ProgId")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return texts(blobs, 1)[0]
