"""`time_diff_range`: how many minutes two times may lie apart, as the task file says."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import Checked
from backend.domain.parameters import Parameters
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register
from backend.domain.score import Blob


class _Range(Parameters):
    diff_range_in_minutes: str | int


@register(Kind.GETTER, "time_diff_range")
class TimeDiffRange(Checked):
    """`diff_range_in_minutes`; it is the value."""

    Params = _Range

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        """Nothing to gather."""
        return []

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        """See the port."""
        return _Range.of(parameters).diff_range_in_minutes
