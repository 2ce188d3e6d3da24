"""The order of the test files among several processes."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.order import EACH, RECORDED, WITH_MORE, DurationRecorder, arranged, expected, file_of


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


class TestExpected:
    def test_the_recorded_seconds_or_what_its_tests_are_taken_to_last(self, request: pytest.FixtureRequest) -> None:
        class Here(pytest.Item):
            def runtest(self) -> None:
                """Never run."""

        names = ("a.py::one", "b.py::one", "b.py::two", "c.py::one")
        items = [Here.from_parent(request.session, name=name, nodeid=name) for name in names]
        items[3].add_marker("desktop")
        found = expected(items, {"a.py": 90.0, "gone.py": 1.0})
        assert found == {"a.py": 90.0, "b.py": 2 * EACH, "c.py": WITH_MORE["desktop"]}


class TestRecorded:
    def test_every_file_is_there(self) -> None:
        """A renamed file would silently be taken for a quick one."""
        assert [name for name in json.loads(RECORDED.read_text()) if not (ROOT / name).is_file()] == []

    def test_a_run_writes_its_long_files(self, tmp_path: Path) -> None:
        recorder = DurationRecorder(tmp_path / "seconds.json")
        for nodeid, duration in (("b.py::one", 2.0), ("b.py::C::two[x::y]", 2.4), ("a.py::one", 0.1)):
            recorder.pytest_runtest_logreport(report(nodeid, duration))
        recorder.pytest_sessionfinish()
        assert json.loads((tmp_path / "seconds.json").read_text()) == {"b.py": 4}
