"""`vm_screen_size`: the size of the desktop's screen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "vm_screen_size")
class VmScreenSize(ParameterGetter):
    """No parameters. The value is `{width, height}` in pixels."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        screen = context.desktop.probe().screen
        return [as_json("screen size", {"width": screen.width, "height": screen.height})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return json_value(only(blobs))
