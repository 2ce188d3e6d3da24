"""Step types that upstream names and never built: a task with one cannot be set up anywhere."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import Invalid, TaskSetupFailed
from backend.domain.ports.task import SetupContext


class UnimplementedStep:
    """Refused before anything runs. No published task uses it."""

    name: str

    def check(self, parameters: Mapping[str, Any]) -> None:  # noqa: ARG002 - whatever they are
        raise Invalid(
            self._words(), code="invalid_step", hint="Write the step's effect with `execute`, `download` or `launch`."
        )

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:  # noqa: ARG002 - never comes here
        raise TaskSetupFailed(self._words(), code="step_not_supported")

    def _words(self) -> str:
        return f"the step type {self.name!r} is not implemented: OSWorld and WindowsAgentArena do not implement it"
