"""A sample of `make fuzz-metrics`, and that it notices what it looks for."""

import time
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.factories.metric_cases import Call, MetricCase, all_cases
from tests.sampling import seed
from tools import fuzz_metrics
from tools.fuzz_metrics import VERDICT, FuzzOutcome, fuzz, page, right_calls

registry.load()
SAMPLE = ("check_thunderbird_prefs", "check_thunderbird_filter", "check_thunderbird_folder", "check_json_settings")


def test_a_sample_gives_verdicts_only(tmp_path: Path) -> None:
    cases = {key: case for key, case in all_cases().items() if key[1] in SAMPLE}
    outcomes = list(fuzz(seed(), range(40), right_calls(cases, tmp_path), tmp_path))
    assert [one for one in outcomes if one.what != VERDICT] == []
    assert {one.key[1] for one in outcomes} == set(SAMPLE)


def raises(_result: str) -> Any:
    raise ZeroDivisionError


def grows(_result: str) -> Any:
    return bytearray(8 << 30)


def lasts(_result: str) -> Any:
    while True:
        time.monotonic()


def text(_result: str) -> Any:
    return "no verdict"


def judges(result: str) -> Any:
    return MetricValue(value=float(Path(result).exists()))


@pytest.mark.parametrize(
    ("metric", "what"),
    [
        (raises, "ZeroDivisionError"),
        (grows, "MemoryError"),
        (lasts, "SIGXCPU"),
        (text, "in place of a verdict"),
        (judges, VERDICT),
    ],
)
def test_outcome_of_a_failing_metric_is_named(
    metric: Any, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def file(folder: Path) -> Call:
        (folder / "a.txt").write_text("one 1")
        return Call((str(folder / "a.txt"),))

    monkeypatch.setattr(fuzz_metrics, "SECONDS", 1)
    registry.register(PluginKind.METRIC, "tried")(metric)
    try:
        calls = right_calls({("common", "tried"): MetricCase(file, file)}, tmp_path)
        one, other = fuzz(1, [0, 1], calls, tmp_path)
    finally:
        registry.unregister(PluginKind.METRIC, "tried")
    assert what in one.what
    assert what in other.what  # A failure does not end the series.


def test_the_page_has_counts_by_seed_and_every_failure() -> None:
    one = FuzzOutcome(7, 3, ("common", "check_csv"), VERDICT, 0.25, 2**20)
    other = FuzzOutcome(8, 4, ("waa", "is_in_list"), "MemoryError at a.py:1: ", 1.5, 3 * 2**20)
    text = page([one, other], 2)
    assert "| 7 | 1 | 1 | 0 | 0.2 | 1 |" in text
    assert "| all | 2 | 1 | 1 | 1.5 | 3 |" in text
    assert "- `is_in_list` (waa), seed 8, number 4: MemoryError at a.py:1: " in text
    assert "None." in page([one], 1)


def test_a_call_has_its_seconds_and_memory(tmp_path: Path) -> None:
    # Memory that was used and given back stays the process's: a call that takes it takes as much as any other.
    used = [bytes(100_000) for _ in range(1000)]
    last = bytes(100_000)
    used.clear()

    def works(_result: str) -> MetricValue:
        data = b"1" * (64 << 20)
        return MetricValue(value=float(len(data) > 0))

    def file(folder: Path) -> Call:
        (folder / "a.txt").write_text("one 1")
        return Call((str(folder / "a.txt"),))

    registry.register(PluginKind.METRIC, "tried")(works)
    try:
        calls = right_calls({("common", "tried"): MetricCase(file, file)}, tmp_path)
        outcomes = list(fuzz(1, range(3), calls, tmp_path))
    finally:
        registry.unregister(PluginKind.METRIC, "tried")
    assert last
    assert all(60 << 20 < outcome.memory < 100 << 20 for outcome in outcomes)
    assert all(0 < outcome.seconds < 10 for outcome in outcomes)
