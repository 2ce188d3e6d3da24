"""Our own benchmark: tasks, assets and solutions that run on local desktops."""

from pathlib import Path

TASKS = Path(__file__).parent / "tasks"
"""The folder that `deskarena benchmark import starter` reads, and that is there from the first start."""
