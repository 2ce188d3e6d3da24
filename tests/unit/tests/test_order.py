"""The order of the test files among several processes."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.order import (
    EACH,
    WITH_MORE,
    DurationRecorder,
    arranged,
    expected,
    file_of,
    recorded_seconds,
    slow_tests,
)
from tests.sampling import slow_of_other_seeds


def report(nodeid: str, duration: float) -> pytest.TestReport:
    return pytest.TestReport(nodeid, (file_of(nodeid), 1, nodeid), {}, "passed", None, "call", duration=duration)


def ends(order: list[str], seconds: dict[str, float], processes: int) -> list[float]:
    """When each process ends if it takes the next file whenever it has none."""
    busy = [0.0] * processes
    for name in order:
        busy[busy.index(min(busy))] += seconds[name]
    return busy


class TestArranged:
    def test_longest_file_comes_first_and_short_ones_fill_in(self) -> None:
        seconds = {"a": 1.0, "b": 40.0, "c": 2.0, "d": 60.0, "e": 30.0}
        assert arranged(seconds) == ["d", "c", "b", "a", "e"]

    def test_every_file_once(self) -> None:
        seconds = {f"test_{number}.py": float(number % 17) for number in range(300)}
        assert sorted(arranged(seconds)) == sorted(seconds)

    def test_files_without_any_time(self) -> None:
        assert arranged({"b": 0.0, "a": 0.0}) == ["a", "b"]

    @pytest.mark.parametrize("processes", [2, 3, 6])
    def test_processes_end_together(self, processes: int) -> None:
        long = {f"long_{number}": 3.0 + 170.0 / number for number in range(1, 90)}
        seconds = long | {f"quick_{number}": number / 300 for number in range(500)}
        found = ends(arranged(seconds), seconds, processes)
        assert max(found) - min(found) < 5.0


@cache
def text_of(name: str) -> str:
    return (ROOT / name).read_text()


class Here(pytest.Item):
    def runtest(self) -> None:
        """Never run."""


class TestExpected:
    def test_the_recorded_seconds_or_what_its_tests_are_taken_to_last(self, request: pytest.FixtureRequest) -> None:
        names = ("a.py::one", "a.py::two[x]", "a.py::two[y]", "b.py::one", "b.py::two", "c.py::one")
        items = [Here.from_parent(request.session, name=name, nodeid=name) for name in names]
        items[-1].add_marker("desktop")
        found = expected(items, {"a.py": 0.5, "a.py::two": 90.0, "gone.py": 1.0})
        assert found == {"a.py": 180.5, "b.py": 2 * EACH, "c.py": WITH_MORE["desktop"]}


class TestRecorded:
    def test_every_file_is_there(self) -> None:
        """A renamed file would silently be taken for a quick one."""
        assert [name for name in recorded_seconds() if not (ROOT / file_of(name)).is_file()] == []

    def test_every_slow_test_is_there(self) -> None:
        """A renamed test would silently run every time."""
        gone = [name for name in slow_tests() if f"def {name.rpartition('::')[2]}(" not in text_of(file_of(name))]
        assert gone == []

    def test_a_run_writes_its_long_files(self, tmp_path: Path) -> None:
        recorder = DurationRecorder(tmp_path / "seconds.json")
        for nodeid, duration in (
            ("b.py::one", 1.9),
            ("b.py::one", 0.2),
            ("b.py::C::two[x::y]", 1.4),
            ("b.py::C::two[z]", 1.8),
            ("a.py::one", 0.1),
        ):
            recorder.pytest_runtest_logreport(report(nodeid, duration))
        recorder.pytest_sessionfinish()
        assert json.loads((tmp_path / "seconds.json").read_text()) == {"b.py": 1.6, "b.py::one": 2.1}


class TestSlow:
    def test_two_seeds_in_a_row_run_each_slow_test_once(
        self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("DESKARENA_TEST_ALL", raising=False)
        monkeypatch.delenv("DESKARENA_TEST_CAMPAIGNS", raising=False)
        names = ["a.py::quick", *(f"a.py::slow[{number}]" for number in range(40))]
        items = [Here.from_parent(request.session, name=name, nodeid=name) for name in names]
        out = []
        for seed in ("4", "5", "6"):
            monkeypatch.setenv("DESKARENA_TEST_SEED", seed)
            out.append({item.name for item in slow_of_other_seeds(items, {"a.py::slow"})})
        assert out[0] | out[1] == set(names[1:])
        assert not out[0] & out[1]
        assert out[0] == out[2]
        assert 10 < len(out[0]) < 30

    @pytest.mark.parametrize("run", ["DESKARENA_TEST_ALL", "DESKARENA_TEST_CAMPAIGNS"])
    def test_longer_runs_leave_out_none(
        self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, run: str
    ) -> None:
        monkeypatch.setenv(run, "1")
        item = Here.from_parent(request.session, name="slow", nodeid="a.py::slow")
        assert slow_of_other_seeds([item], {"a.py::slow"}) == []
