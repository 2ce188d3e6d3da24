"""Runs set-up steps by name, and what several step types share."""

from collections.abc import Mapping, Sequence

from backend.domain import registry
from backend.domain.errors import GuestRefused, Invalid, ProgramBroken, TaskSetupFailed
from backend.domain.model.task import JSON, SetupStep
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.task import SetupContext, SetupStepType
from backend.domain.registry import PluginKind


def find_step(name: str, dialect: str) -> SetupStepType:
    """The step type called `name`, in that dialect or common. Raises UnknownPlugin."""
    plugin = registry.lookup(PluginKind.SETUP, name, dialect)
    step: SetupStepType = plugin() if isinstance(plugin, type) else plugin
    return step


def check_step(step: SetupStep, dialect: str) -> None:
    """Raises UnknownPlugin or Invalid if the step could never run."""
    find_step(step.type, dialect).check(step.parameters)


def run_step(context: SetupContext, name: str, parameters: Mapping[str, JSON]) -> None:
    """Checks and runs one step. Raises TaskSetupFailed, GuestRefused or GuestLost."""
    try:
        step = find_step(name, context.task.dialect)
        step.check(parameters)
    except Invalid as error:
        raise TaskSetupFailed(str(error), code="step_failed", hint=error.hint) from error
    step.run(context, parameters)


def run_steps(context: SetupContext, steps: Sequence[SetupStep]) -> None:
    """Runs a task's set-up in order; every step's effect is there when it returns.

    Raises:
        TaskSetupFailed: a step failed or was refused; the error has its number, from 1, and its code.
        ProgramBroken: a program of the desktop opens no window.
        GuestLost: the desktop is gone.
    """
    for number, step in enumerate(steps, start=1):
        try:
            run_step(context, step.type, step.parameters)
        except ProgramBroken as error:
            raise ProgramBroken(f"{step.type}: {error.message}", step=number) from error
        except (TaskSetupFailed, GuestRefused) as error:
            code = error.code if isinstance(error, TaskSetupFailed) else "step_failed"
            raise TaskSetupFailed(f"{step.type}: {error.message}", code=code, step=number, hint=error.hint) from error


def find_window(desktop: Desktop, name: str, *, strict: bool, by_class: bool) -> bool:
    """Whether a window with that title (or class) is there; not strict = it contains the name, in any case."""
    for window in desktop.windows():
        value = window.wm_class if by_class else window.title
        if value == name if strict else name.lower() in value.lower():
            return True
    return False
