"""Which of OSWorld's tasks need no file from elsewhere, and which of those can run on a local desktop here."""

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from backend.domain.machines.applications import missing
from backend.domain.model.task import SetupStep, Task

FETCHING = {"download", "login", "googledrive"}
PROGRAM_OF = {"jq": "jq", "sysstat": "sar"}
"""Debian packages that tasks install by `sudo`, and the program in each by which it is known to be there."""
_INSTALLS = re.compile(r"sudo -S apt(?:-get)? install (\w+)")


def needs_no_file(task: Task) -> bool:
    """True if neither set-up nor evaluation takes a file or an account from elsewhere."""
    steps = [*task.setup, *task.evaluator.postconfig]
    getters = [spec for call in task.evaluator.calls for spec in (call.result, call.expected) if spec]
    return not any(step.type in FETCHING for step in steps) and not any(
        "cloud" in str(spec["type"]) for spec in getters
    )


def obstacle(task: Task, programs: Collection[str]) -> str:
    """Missing needs of a task, before anything is tried; empty if it can run."""
    needed = missing(task.labels.requires, programs)
    needed += [PROGRAM_OF[name] for name in installed(task.setup) if PROGRAM_OF[name] not in programs]
    if needed and task.setup:
        return ", ".join(needed)
    return "sudo" if "sudo" in commands(without_installation(task)) else ""


def opens_pages(task: Task) -> bool:
    """Whether the set-up opens pages of the web."""
    return any(step.type == "chrome_open_tabs" for step in task.setup)


def installed(steps: Sequence[SetupStep]) -> list[str]:
    """The packages that steps install, those that we know."""
    found = _INSTALLS.findall(json.dumps([step.parameters.get("command", "") for step in steps]))
    return [name for name in found if name in PROGRAM_OF]


def without_installation(task: Task) -> Task:
    """The task without the steps that install present programs: a local desktop has no `sudo`."""
    return task.model_copy(update={"setup": tuple(step for step in task.setup if not installed([step]))})


def commands(task: Task) -> str:
    """All that a task runs, as one text."""
    found: list[Any] = [step.parameters.get("command", "") for step in (*task.setup, *task.evaluator.postconfig)]
    return json.dumps(found)
