"""Our own benchmarks: tasks, assets and solutions that run on local desktops, from the first start on."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent
TASKS = ROOT / "tasks"
"""The folder of the starter benchmark, which `deskarena benchmark import starter` reads."""


class StarterBenchmark(NamedTuple):
    """One of our own benchmarks.

    Attributes:
        name: under which it is imported, for example `starter-windowsworld`.
        kind: whose reader reads it.
        folder: its files, in the form that the published suite of that kind has.
    """

    name: str
    kind: str
    title: str
    folder: Path


_FORMS = {"windowsworld": "WindowsWorld", "omnibench": "OmniBench", "prosoftarena": "ProSoftArena"}
"""Published suites in whose form there are tasks of ours, each in the folder of that name."""


def starters() -> Iterator[StarterBenchmark]:
    """All of them, the starter benchmark first."""
    yield StarterBenchmark("starter", "starter", "Starter", TASKS)
    for kind, title in _FORMS.items():
        if (ROOT / kind).is_dir():
            yield StarterBenchmark(f"starter-{kind}", kind, f"Starter tasks in {title}'s form", ROOT / kind)
