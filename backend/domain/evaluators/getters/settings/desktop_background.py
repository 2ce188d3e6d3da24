"""`desktop_background`: whether Windows' desktop background is a plain colour. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.settings._registry import query_registry, texts
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KEY = r"HKCU\Control Panel\Desktop"


@register(PluginKind.GETTER, "desktop_background")
class DesktopBackground(ParameterGetter):
    """No parameters. The value is the text `True` for a plain colour, `False` for a picture."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [query_registry(context, KEY, "WallPaper")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return "False" if texts(blobs, 1)[0] else "True"
