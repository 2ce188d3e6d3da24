"""`system_notifications`: whether Windows' notifications are switched off. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.settings._registry import query_registry, texts
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KEY = r"HKCU\Software\Microsoft\Windows\CurrentVersion\PushNotifications"


@register(PluginKind.GETTER, "system_notifications")
class SystemNotifications(ParameterGetter):
    """No parameters. The value is the text `True` if they are off, `False` if they are on (the default)."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [query_registry(context, KEY, "ToastEnabled")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return "True" if texts(blobs, 1)[0] == "0" else "False"
