"""`system_timezone`: the time zone of a Windows desktop, as named in its settings. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.settings._registry import query_registry, text, texts
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KEY = r"HKLM\SYSTEM\CurrentControlSet\Control\TimeZoneInformation"
ZONES = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Time Zones"


@register(PluginKind.GETTER, "system_timezone")
class SystemTimezone(ParameterGetter):
    """No parameters. The value is a name such as `(UTC-08:00) Pacific Time (US & Canada)`."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        """See the port. The first value is the registry key of the second."""
        zone = query_registry(context, KEY, "TimeZoneKeyName")
        name = None if zone.data is None else text(zone)
        return [zone, query_registry(context, rf"{ZONES}\{name}", "Display")] if name else [zone]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        texts_shown = texts(blobs, len(blobs))[1:]
        if not texts_shown or texts_shown[0] is None:
            raise EvaluatorFailed("the registry does not name the desktop's time zone", code="evidence_unreadable")
        return texts_shown[0]
