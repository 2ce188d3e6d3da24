"""The published suites and our own small sample of their formats, with the readers that read them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.model.task import LoadedBenchmark
from backend.domain.registry import PluginKind

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
"""Task files of our own, laid out as the two suites publish theirs; they use every feature of the format."""
OSWORLD_TASKS = Path("osworld/evaluation_examples/examples")
OSWORLD_WINDOWS = Path("osworld/evaluation_examples/examples_windows")
WAA_TASKS = Path("waa/src/win-arena-container/client/evaluation_examples_windows/examples")
WAA_WITHOUT = WAA_TASKS.parent / "examples_noctxt"


_load = cache(registry.load)  # Finding the plug-ins takes longer than reading a task.


def read(kind: str, path: Path) -> LoadedBenchmark:
    """The result of that kind's reader for a folder."""
    _load()
    reader: Any = registry.lookup(PluginKind.BENCHMARK, kind)()
    benchmark: LoadedBenchmark = reader.load(path)
    return benchmark


def task_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Every task file below a folder of both suites, with the kind of its reader."""
    for kind, folder in (
        ("osworld", OSWORLD_TASKS),
        ("osworld", OSWORLD_WINDOWS),
        ("waa", WAA_TASKS),
        ("waa", WAA_WITHOUT),
    ):
        yield from ((kind, file) for file in sorted((root / folder).glob("*/*.json")))
