"""`night_light_state`: whether Windows' night light has a schedule, and when it is on. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.settings._night_light import schedule
from backend.domain.evaluators.getters.settings._registry import query_registry, texts
from backend.domain.evaluators.getters.settings._times import format_time
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KEY = (
    r"HKCU\Software\Microsoft\Windows\CurrentVersion\CloudStore\Store\DefaultAccount\Current"
    r"\default$windows.data.bluelightreduction.settings\windows.data.bluelightreduction.settings"
)


@register(PluginKind.GETTER, "night_light_state")
class NightLightState(ParameterGetter):
    """No parameters. `[True, start, end]` (`07:00 PM`), `[True]` for sunset to sunrise, False for neither."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [query_registry(context, KEY, "Data")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        (data,) = texts(blobs, 1)
        if data is None:
            return False  # Windows writes the value at the first change of a setting.
        try:
            times = schedule(bytes.fromhex(data))
        except ValueError as error:
            raise EvaluatorFailed(
                f"the night light's settings are not binary data: {error}", code="evidence_damaged"
            ) from error
        return [True, *(format_time(*when) for when in times)] if isinstance(times, tuple) else times and [True]
