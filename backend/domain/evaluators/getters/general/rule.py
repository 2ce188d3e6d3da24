"""`rule`: the expectation in the task file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Rule(Parameters):
    rules: Any


@register(PluginKind.GETTER, "rule")
class RuleGetter(ParameterGetter):
    """`rules`: any JSON; it is the value."""

    Params = _Rule

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return []

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return _Rule.parse(parameters).rules
