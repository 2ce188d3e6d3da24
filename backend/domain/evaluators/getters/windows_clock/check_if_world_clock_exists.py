"""`check_if_world_clock_exists`: whether Windows' Clock shows the time of a city. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters._routes import agreed, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _City(Parameters):
    city: str
    country: str


@register(PluginKind.GETTER, "check_if_world_clock_exists")
class CheckIfWorldClockExists(ParameterGetter):
    """`city`, `country`. The value is the text `True` or `False`."""

    Params = _City

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _City.parse(parameters)
        return [ask_route(context, "/check_if_world_clock_exists", {"city": params.city, "country": params.country})]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return str(agreed(only(blobs)))
