"""Finds the task that an agent's own task file means."""

from collections.abc import Mapping
from typing import Any

from deskarena.client import Client
from deskarena.errors import NotRunnable


def find_task(client: Client, benchmark: str, config: Mapping[str, Any]) -> str:
    """Key of the task of a benchmark that a task file (OSWorld's `task_config`) describes.

    By its `id`, which is the task's name or whole key; else by its instruction, if only one task has it.

    Raises:
        NotRunnable: The benchmark has no such task.
    """
    task_id, instruction = str(config.get("id", "")), str(config.get("instruction", "")).strip()
    if task_id:
        tasks = list(client.items(f"/benchmarks/{benchmark}/tasks", q=task_id.rpartition("/")[2][:200]))
        same = [task for task in tasks if task_id in {task["name"], task["task"]}]
        if len(same) > 1:
            same = [one for one in same if one["instruction"].strip() == instruction]
        if len(same) == 1:
            return str(same[0]["task"])
    if instruction:
        tasks = list(client.items(f"/benchmarks/{benchmark}/tasks", q=instruction[:200]))
        same = [task for task in tasks if task["instruction"].strip() == instruction]
        if len(same) == 1:
            return str(same[0]["task"])
        if len(same) > 1:
            keys = ", ".join(str(task["task"]) for task in same[:5])
            raise NotRunnable(f"{benchmark!r} has several such tasks, give the id of one: {keys}", code="unknown_task")
    raise NotRunnable(
        f"the benchmark {benchmark!r} has no task {task_id or instruction!r}: import its files there first "
        "(deskarena benchmark import)",
        code="unknown_task",
    )
