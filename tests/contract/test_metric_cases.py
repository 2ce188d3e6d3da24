"""Every registered metric: right passes, nearly right fails, and any input gets a verdict with reasons."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.factories.metric_cases import MetricCase, all_cases

registry.load()
CASES = all_cases()
ELSEWHERE = {
    (registry.COMMON, "infeasible"),  # It is never right: how the agent ended decides.
    (registry.COMMON, "handed_in"),  # It enters no score: people judge the work.
    ("omnibench", "evaluate_agent_task_completion"),  # It runs where foreign code is held: tests of the judge.
}
EACH = pytest.mark.parametrize(("dialect", "name"), sorted(CASES))
FILES = pytest.mark.parametrize(("dialect", "name"), sorted(key for key, case in CASES.items() if case.of_file))


def call(case: MetricCase, dialect: str, name: str, made: Any) -> MetricValue:
    found = registry.entries(PluginKind.METRIC)[dialect, name](*made.args, **made.options)
    assert isinstance(found, MetricValue)
    assert found.reasons
    assert all(isinstance(reason, str) and reason for reason in found.reasons)
    return found


def test_every_metric_is_tried() -> None:
    assert sorted(set(registry.entries(PluginKind.METRIC)) - set(CASES) - ELSEWHERE) == []


def test_every_case_is_of_a_metric() -> None:
    assert sorted(set(CASES) - set(registry.entries(PluginKind.METRIC))) == []


@EACH
class TestVerdicts:
    def test_passing_case_gets_its_best_value(self, dialect: str, name: str, tmp_path: Path) -> None:
        case = CASES[dialect, name]
        assert call(case, dialect, name, case.passing(tmp_path)).value == pytest.approx(case.best, abs=1e-9)

    def test_nearly_right_and_twice_the_same(self, dialect: str, name: str, tmp_path: Path) -> None:
        case = CASES[dialect, name]
        made = case.near_miss(tmp_path)
        first = call(case, dialect, name, made).value
        assert first < case.best - 1e-6
        assert call(case, dialect, name, made).value == first


def noise(size: int) -> bytes:
    """No text, nor an answer by chance: among bytes of all values, one in thirteen lots of 5,000 has a "42"."""
    return bytes(random.Random(size).choices(range(0x80, 0x100), k=size))


def damaged(path: Path) -> bytes:
    """The first half of the file, then noise."""
    data = path.read_bytes()
    return data[: len(data) // 2] + noise(200)


def odd_files(folder: Path, right: Path) -> Iterator[tuple[str, Path | None]]:
    """Files of every wrong kind under the right one's name, and what each is."""
    simple = {"empty": b"", "noise": noise(5000), "zip": b"PK\x05\x06" + bytes(18), "text": b"hello\n" * 9}
    for what in ("absent", "folder", "sparse", "damaged", *simple):
        odd = folder / what / right.name
        odd.parent.mkdir(parents=True)
        if what == "folder":
            odd.mkdir()
        elif what == "sparse":
            with odd.open("wb") as file:
                file.truncate(2 * 2**30)
        elif what != "absent":
            odd.write_bytes(simple[what] if what in simple else damaged(right))
        yield what, None if what == "absent" else odd


@pytest.mark.sampled(60)
@FILES
class TestOddFiles:
    def test_any_file_gets_a_verdict(self, dialect: str, name: str, tmp_path: Path) -> None:
        """A file of the wrong kind fails, but still gets a verdict."""
        case = CASES[dialect, name]
        made = case.passing(tmp_path)
        first = made.args[0][0] if isinstance(made.args[0], list) else made.args[0]
        for what, odd in odd_files(tmp_path / "odd", Path(first)):
            given = None if odd is None else str(odd)
            result = [given, *made.args[0][1:]] if isinstance(made.args[0], list) else given
            found = registry.entries(PluginKind.METRIC)[dialect, name](result, *made.args[1:], **made.options)
            assert isinstance(found, MetricValue), what
            assert found.reasons, what
            # A damaged text is still a text; all else is nothing like a right answer.
            assert found.value < case.best or what == "damaged", what

    def test_a_missing_expectation_is_nobodys_zero(self, dialect: str, name: str, tmp_path: Path) -> None:
        case = CASES[dialect, name]
        made = case.passing(tmp_path)
        wanted = made.args[1] if len(made.args) > 1 else None
        if not isinstance(wanted, str) or not Path(wanted).is_file():
            return
        with pytest.raises(EvaluatorFailed):
            registry.entries(PluginKind.METRIC)[dialect, name](
                made.args[0], str(tmp_path / "gone"), *made.args[2:], **made.options
            )
