"""`perform`: plays recorded mouse and keyboard input, waiting for each widget, as the oracle plays a solution."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from backend.domain.errors import GuestLost, Invalid, TaskSetupFailed
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register
from backend.domain.solutions.screen import VisibleScreen, attempt, describe
from backend.domain.solutions.steps import OracleStep, read_solution

QUIET = 0.2
SETTLE = 3.0
"""Seconds for which the screen is still before the next step, and that are waited for it at most."""


class _Steps(Parameters):
    steps: tuple[dict[str, Any], ...] = Field(min_length=1, max_length=500, description="Steps as in a solution.")

    def read(self) -> tuple[OracleStep, ...]:
        steps = read_solution(self.steps)
        for number, step in enumerate(steps):
            if step.fail is not None:
                raise Invalid("a set-up cannot be infeasible", code="invalid_step", path=f"steps.{number}.fail")
        return steps


@register(PluginKind.SETUP, "perform")
class Perform:
    """`steps`, in the form of a solution (docs/benchmarks/starter.md): clicks on widgets, typing, keys, waits.

    For states that cannot be created otherwise. A set-up that says what is there (`create_file`, `launch`) is the
    better
    one: it cannot come out differently.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _read(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        for number, step in enumerate(_read(parameters), start=1):
            _play(context.desktop, step, number)


def _read(parameters: Mapping[str, Any]) -> tuple[OracleStep, ...]:
    steps = _Steps.parse(parameters)
    try:
        return steps.read()
    except Invalid as error:
        message, path = error.message.removeprefix(f"{error.path}: "), error.path
        raise Invalid(
            message, code="invalid_step", path=path.replace("oracle.", "steps.", 1), hint=error.hint
        ) from error


def _play(desktop: Desktop, step: OracleStep, number: int) -> None:
    def done() -> bool:
        try:
            screen = VisibleScreen(desktop.accessibility_tree(), desktop.windows())
        except Invalid as error:
            raise GuestLost(error.message, code="desktop_unresponsive") from error
        ready, actions = attempt(step, screen)
        if ready:
            for action in actions:
                desktop.perform(action)
            desktop.wait_stable(quiet=QUIET, timeout=SETTLE)
        return ready

    if not look_again(desktop, done, looks=step.patience):
        raise TaskSetupFailed(
            f"its step {number} ({describe(step)}) timed out after {step.patience} tries", code="step_timeout"
        )
