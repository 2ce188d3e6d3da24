"""The order of the test files when several processes share them: none may wait at the end for another's longest file.

pytest-xdist hands out files in the order of collection (`--no-loadscope-reorder`). The longest come first. Quick ones
are spread among them: long files wait for desktops and servers, quick ones compute, and both together fill the
processors, with more processes than there are of these.
`make test-seconds` measures anew.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path
from statistics import fmean

import pytest

RECORDED = Path(__file__).parent / "seconds.json"
"""Seconds that each test lasts: by test for those of at least `SLOW`, by file for the others of longer files."""
SLOW = 2.0
LEAST = 3.0
"""Seconds from which on a file is long: it has its place by its length."""
EACH = 0.03
"""Seconds that a test of any other file is taken to last,"""
WITH_MORE = {"browser": 4.0, "desktop": 4.0, "stack": 15.0}
"""and one with such a mark."""


def file_of(nodeid: str) -> str:
    """The test file of a test's id."""
    return nodeid.partition("::")[0]


def function_of(nodeid: str) -> str:
    """The test's id without its parameters."""
    return nodeid.partition("[")[0]


def recorded_seconds() -> dict[str, float]:
    """What the last measurement wrote into `RECORDED`."""
    seconds: dict[str, float] = json.loads(RECORDED.read_text())
    return seconds


def slow_tests() -> set[str]:
    """The slow tests by the last measurement: ids without parameters."""
    return {name for name in recorded_seconds() if "::" in name}


def expected(items: Iterable[pytest.Item], recorded: Mapping[str, float]) -> dict[str, float]:
    """The seconds that each test file will take.

    Args:
        items: the tests.
        recorded: the seconds that a test lasts, by test or by file.
    """
    total: dict[str, float] = defaultdict(float)
    for item in items:
        name = file_of(item.nodeid)
        marked = max((seconds for mark, seconds in WITH_MORE.items() if item.get_closest_marker(mark)), default=EACH)
        total[name] += recorded.get(function_of(item.nodeid), recorded.get(name, marked))
    return dict(total)


def arranged(seconds: Mapping[str, float]) -> list[str]:
    """The files, long ones by their length, the longest first, and the quick ones spread evenly among them.

    Args:
        seconds: that each file will take.
    """
    order = sorted(seconds, key=lambda name: (-seconds[name], name))
    long = [name for name in order if seconds[name] >= LEAST]
    starts = accumulate((seconds[name] for name in long), initial=0.0)
    places = dict(zip(long, starts, strict=False))
    step = sum(seconds[name] for name in long) / (len(order) - len(long) + 1)
    places |= {name: step * number for number, name in enumerate(order[len(long) :], 1)}
    return sorted(order, key=lambda name: places[name])


def arrange(items: list[pytest.Item]) -> None:
    """Orders the tests by file as `arranged` says; within a file they keep their order."""
    seconds = expected(items, recorded_seconds())
    rank = {name: place for place, name in enumerate(arranged(seconds))}
    items.sort(key=lambda item: rank[file_of(item.nodeid)])


class DurationRecorder:
    """Writes how long the tests took: a plugin of the process that hands them out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds one phase of one test."""
        self._seconds[function_of(report.nodeid)][report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Writes the figures; those of tests that did not run are lost."""
        figures: dict[str, float] = {}
        others: dict[str, list[float]] = defaultdict(list)
        for function, cases in self._seconds.items():
            mean = fmean(cases.values())
            if mean >= SLOW:
                figures[function] = round(mean, 1)
            else:
                others[file_of(function)].extend(cases.values())
        figures |= {name: round(fmean(cases), 3) for name, cases in others.items() if sum(cases) >= LEAST}
        self._path.write_text(json.dumps(dict(sorted(figures.items())), indent=2) + "\n")
