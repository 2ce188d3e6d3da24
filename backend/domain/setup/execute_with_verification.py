"""`execute_with_verification`: runs a program in the desktop and waits for its effect."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register
from backend.domain.setup._execute import Command, fill_templates


class _VerificationParams(Parameters):
    window_exists: str = ""
    command_success: str = ""


class _ExecuteParams(Parameters):
    command: Command
    verification: _VerificationParams = _VerificationParams()
    max_wait_time: float = Field(default=10, ge=0, le=600)
    check_interval: float = Field(default=1.0, ge=0.01, le=60)
    shell: bool = False


@register(PluginKind.SETUP, "execute_with_verification")
class ExecuteWithVerification:
    """`command`, `shell`, `verification` (`window_exists`, `command_success`), `max_wait_time`, `check_interval`.

    The effect that does not come within `max_wait_time` seconds is a failure. Templates as in `execute`.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _ExecuteParams.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        step = _ExecuteParams.parse(parameters)
        request = step.model_dump(mode="json") | {"command": fill_templates(step.command, context)}
        context.desktop.call("POST", "/setup/execute_with_verification", request)
