from datetime import UTC, datetime, timedelta

from backend.domain.model.trajectory import Usage
from backend.domain.statistics.latencies import quantile
from worker.models.usage_meter import UsageMeter

START = datetime(2026, 3, 1, 12, 2, tzinfo=UTC)


class CalendarClock:
    """A clock that a test sets."""

    at = START

    def __call__(self) -> datetime:
        return self.at


def usage(tokens: int = 10, *, usd: float = 0.5, priced: bool = True) -> Usage:
    return Usage(input_tokens=tokens, output_tokens=1, usd=usd, priced=priced, calls=1, wait_seconds=2.0)


class TestCounts:
    def test_counts_by_endpoint_and_model(self) -> None:
        meter = UsageMeter(CalendarClock())
        meter.answered("lab", "m-1", 4.0, usage())
        meter.answered("lab", "m-1", 4.0, usage(20, priced=False))
        meter.answered("lab", "m-2", 1.0, usage())
        meter.failed("lab", "m-1", "HTTP 429", "HTTP 429: slow down")
        meter.failed("lab", "m-1", "HTTP 429", "HTTP 429: slower")
        meter.failed("lab", "m-1", "timeout", "no response within 3 s")
        meter.gave_up("lab", "m-1")
        first, second = sorted(meter.unwritten(), key=lambda row: row.model)
        assert (first.answered, first.input_tokens, first.usd, first.unpriced, first.gave_up) == (2, 30, 1.0, 1, 1)
        assert (first.errors, first.last_error) == ({"HTTP 429": 2, "timeout": 1}, "no response within 3 s")
        assert (first.last_answer_at, first.last_error_at, first.wait_seconds) == (START, START, 4.0)
        assert 3.6 < (quantile(first.latencies, 0.5) or 0) < 4.4
        assert (second.model, second.answered, second.errors) == ("m-2", 1, {})

    def test_a_period_has_five_minutes(self) -> None:
        clock = CalendarClock()
        meter = UsageMeter(clock)
        meter.answered("lab", "m-1", 1.0, usage())
        clock.at = START + timedelta(minutes=3)
        meter.answered("lab", "m-1", 1.0, usage())
        rows = [(row.started_at.minute, row.answered) for row in meter.unwritten()]
        assert rows == [(0, 1), (5, 1)]

    def test_names_of_models_are_bounded(self) -> None:
        meter = UsageMeter(CalendarClock())
        for number in range(600):
            meter.gave_up("lab", f"m-{number}" * 100)
        rows = meter.unwritten()
        assert len(rows) == 501
        assert sum(row.gave_up for row in rows) == 600
        assert max(len(row.model) for row in rows) <= 200


class TestWriting:
    def test_counts_during_a_write_are_in_the_next(self) -> None:
        meter = UsageMeter(CalendarClock())
        meter.gave_up("lab", "m-1")
        rows = meter.unwritten()
        meter.gave_up("lab", "m-1")
        meter.written(rows)
        assert [row.gave_up for row in meter.unwritten()] == [2]
        meter.written(meter.unwritten())
        assert meter.unwritten() == []
