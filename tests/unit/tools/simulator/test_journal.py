"""Slot-seconds and shares, by hand."""

from uuid import uuid4

import pytest

from tools.simulator.journal import Journal, SlotUse, share_error, slot_seconds


class TestSlotSeconds:
    def test_counts_what_lies_between(self) -> None:
        first, second = uuid4(), uuid4()
        holds = [
            SlotUse(first, uuid4(), ("n", 0), 0.0, 0.0, 10.0),
            SlotUse(first, uuid4(), ("n", 0), 10.0, 12.0, None),
            SlotUse(second, uuid4(), ("n", 1), 0.0, 30.0, 40.0),
        ]
        assert slot_seconds(holds, 5.0, 20.0) == {first: 13.0, second: 0.0}


class TestShareError:
    def test_is_the_largest_difference(self) -> None:
        assert share_error({"a": 60.0, "b": 40.0}, {"a": 1.0, "b": 1.0}) == pytest.approx(0.1)
        assert share_error({"a": 20.0, "b": 10.0}, {"a": 2.0, "b": 1.0}) == pytest.approx(0.0)
        assert share_error({"a": 20.0}, {"a": 1.0, "b": 1.0}) == pytest.approx(0.5)


class TestJournal:
    def test_keeps_what_has_ended_and_what_has_not(self) -> None:
        journal, run, attempts = Journal(), uuid4(), [uuid4(), uuid4()]
        for at, attempt in enumerate(attempts):
            journal.leased(attempt, SlotUse(run, uuid4(), ("n", at), 0.0, float(at)))
        journal.finished(attempts[0], 5.0)
        assert [hold.ended_at for hold in journal.all()] == [5.0, None]
