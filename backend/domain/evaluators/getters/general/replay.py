"""`replay`: presses keys and types text, for programs that write their state only on request."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._keys import StrokeKind, strike
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Hotkey(Parameters):
    type: Literal["hotkey"]
    param: tuple[str, ...]


class _Word(Parameters):
    type: Literal["typewrite", "press"]
    param: str


class _Replay(Parameters):
    trajectory: tuple[_Hotkey | _Word, ...]


@register(PluginKind.GETTER, "replay")
class ReplayGetter(ParameterGetter):
    """`trajectory`: a list of `{type: hotkey, param: [keys]}`, `{type: typewrite|press, param}`. The value is None."""

    Params = _Replay

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port. An unknown key is an error of the task."""
        for step in _Replay.parse(parameters).trajectory:
            strike(context.desktop, StrokeKind(step.type), step.param)
        return []

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return None
