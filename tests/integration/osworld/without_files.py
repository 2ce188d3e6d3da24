"""Which of OSWorld's tasks need no file from elsewhere, and which of those can run on a local desktop here."""

import json
from collections.abc import Container
from typing import Any

from backend.domain.task import Task

FETCHING = {"download", "login", "googledrive"}
BROWSERS = {"chrome", "browser"}


def needs_no_file(task: Task) -> bool:
    """True if neither set-up nor evaluation takes a file or an account from elsewhere."""
    steps = [*task.setup, *task.evaluator.postconfig]
    getters = [spec for call in task.evaluator.calls for spec in (call.result, call.expected) if spec]
    return not any(step.type in FETCHING for step in steps) and not any(
        "cloud" in str(spec["type"]) for spec in getters
    )


def obstacle(task: Task, programs: Container[str]) -> str:
    """Why a task cannot run here, before anything is tried; nothing if it can."""
    needed = [name for name in task.labels.requires if name not in programs]
    if BROWSERS & set(task.labels.apps) and "chromium" not in programs and "google-chrome" not in programs:
        needed.append("chromium")
    if needed and task.setup:
        return f"needs {', '.join(needed)}"
    if "sudo" in commands(task):
        return "needs sudo, which a local desktop has not"
    if any(step.type == "chrome_open_tabs" for step in task.setup):
        return "opens pages of the web"
    return ""


def commands(task: Task) -> str:
    """All that a task runs, as one text."""
    found: list[Any] = [step.parameters.get("command", "") for step in (*task.setup, *task.evaluator.postconfig)]
    return json.dumps(found)
