"""`check_if_timer_started`: whether a timer of Windows' Clock runs with a duration. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters._routes import agreed, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Timer(Parameters):
    hours: int | str
    minutes: int | str
    seconds: int | str


@register(PluginKind.GETTER, "check_if_timer_started")
class CheckIfTimerStarted(ParameterGetter):
    """`hours`, `minutes`, `seconds`. The value is the text `True` or `False`."""

    Params = _Timer

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Timer.parse(parameters)
        return [
            ask_route(
                context,
                "/check_if_timer_started",
                {"hours": params.hours, "minutes": params.minutes, "seconds": params.seconds},
            )
        ]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return str(agreed(only(blobs)))
