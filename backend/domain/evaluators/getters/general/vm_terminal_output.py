"""`vm_terminal_output`: the text of the desktop's active terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters._routes import answer, ask_route
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "vm_terminal_output")
class VmTerminalOutput(ParameterGetter):
    """No parameters. The value is text, None if no terminal shows its text."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [ask_route(context, "/terminal", method="GET")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        reply = answer(only(blobs))
        if not isinstance(reply, dict) or not isinstance(reply.get("output"), str | None):
            raise EvaluatorFailed("the guest's answer about the terminal has no `output`", code="evidence_unreadable")
        return reply.get("output")
