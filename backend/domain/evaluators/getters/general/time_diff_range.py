"""`time_diff_range`: the maximum difference of two times in minutes, from the task file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._clock import local_instant, read_clock
from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Range(Parameters):
    diff_range_in_minutes: str | int


@register(PluginKind.GETTER, "time_diff_range")
class TimeDiffRange(ParameterGetter):
    """`diff_range_in_minutes`; the value is `{minutes, now}`, with the desktop's time of day as `HH:MM`."""

    Params = _Range

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        """Records the time of the evaluation, so that re-evaluation gets the same result."""
        return [read_clock(context)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        minutes = _Range.parse(parameters).diff_range_in_minutes
        return {"minutes": minutes, "now": f"{local_instant(only(blobs)):%H:%M}"}
