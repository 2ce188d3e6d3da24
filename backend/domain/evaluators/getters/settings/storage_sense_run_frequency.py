"""`storage_sense_run_frequency`: how often Windows' Storage Sense runs. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.settings._registry import query_registry, texts
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KEY = r"HKCU\Software\Microsoft\Windows\CurrentVersion\StorageSense\Parameters\StoragePolicy"
ON, DAYS = "01", "2048"


@register(PluginKind.GETTER, "storage_sense_run_frequency")
class StorageSenseRunFrequency(ParameterGetter):
    """No parameters. The value is the number of days as text (0: when space is low), None if Storage Sense is off."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [query_registry(context, KEY, ON), query_registry(context, KEY, DAYS)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        on, days = texts(blobs, 2)
        return days if on == "1" else None
