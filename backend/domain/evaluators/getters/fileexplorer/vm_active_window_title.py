"""`vm_active_window_title`: the title of the window in front. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "vm_active_window_title")
class VmActiveWindowTitle(ParameterGetter):
    """No parameters. The value is the title, empty if no window is active."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        active = [window.title for window in context.desktop.windows() if window.active]
        return [as_json("active window", active[-1] if active else "")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        title = json_value(only(blobs))
        if not isinstance(title, str):
            raise EvaluatorFailed("the title of the active window is damaged", code="evidence_damaged")
        return title.strip()
