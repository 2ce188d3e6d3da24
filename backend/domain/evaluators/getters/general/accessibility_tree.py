"""`accessibility_tree`: the screen's final accessibility tree."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "accessibility_tree")
class AccessibilityTree:
    """No parameters. The value is the tree in OSWorld's XML."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        Parameters.parse(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        """See the port. If the guest refuses, the evaluation fails, not the agent."""
        tree = context.desktop.accessibility_tree()
        return [Blob(name="accessibility tree", data=tree.encode(), media_type="application/xml")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if len(blobs) != 1 or blobs[0].data is None:
            raise EvaluatorFailed("no accessibility tree was collected", code="evidence_missing")
        return blobs[0].data.decode(errors="replace")
