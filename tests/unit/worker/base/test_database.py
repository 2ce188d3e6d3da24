from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import pytest
from sqlalchemy.exc import OperationalError

from backend.domain.errors import ClusterLost, LeaseLost, NotFound, Unavailable
from tests.error_codes import raises_code, raises_fields
from worker.base.database import Database
from worker.base.lease import HeldLease, LeaseGrant


class FlakySession:
    """A session whose commit fails some times."""

    def __init__(self, failures: list[int]) -> None:
        self._failures = failures
        self.info: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    def commit(self) -> None:
        if self._failures[0] > 0:
            self._failures[0] -= 1
            raise OperationalError("COMMIT", {}, Exception("the server is gone"))


def flaky(failures: int) -> Database:
    """A database that fails for a number of transactions."""
    left = [failures]
    factory: Any = lambda: FlakySession(left)  # noqa: E731
    return Database(factory)


@pytest.fixture
def hold() -> HeldLease:
    return HeldLease(LeaseGrant(uuid4(), "fake"), 60.0)


class TestOnce:
    def test_returns_the_result(self) -> None:
        assert flaky(0).once(lambda _: 42) == 42

    def test_unavailable_database_is_reported(self) -> None:
        with raises_code(Unavailable, "database_unavailable"):
            flaky(1).once(lambda _: 42)


class TestInsist:
    def test_retries_until_the_database_is_back(self, hold: HeldLease) -> None:
        assert flaky(3).insist(lambda _: 42, hold) == 42

    def test_gives_up_when_the_lease_expires(self) -> None:
        with pytest.raises(LeaseLost):
            flaky(10**6).insist(lambda _: 42, HeldLease(LeaseGrant(uuid4(), "fake"), 0.3))

    def test_stopped_attempt_writes_nothing(self, hold: HeldLease) -> None:
        hold.stop(ClusterLost("the worker was stopped"))
        with raises_fields(ClusterLost, message="the worker was stopped"):
            flaky(0).insist(lambda _: 42, hold)

    def test_stopped_attempt_may_write_its_final_state(self, hold: HeldLease) -> None:
        hold.stop(ClusterLost("the worker was stopped"))
        assert flaky(2).insist(lambda _: 42, hold, last_words=True) == 42

    def test_lost_lease_forbids_the_final_state(self, hold: HeldLease) -> None:
        hold.stop(LeaseLost("taken over"))
        with pytest.raises(LeaseLost):
            flaky(0).insist(lambda _: 42, hold, last_words=True)

    def test_other_errors_are_not_retried(self, hold: HeldLease) -> None:
        calls = []

        def work(_: object) -> None:
            calls.append(1)
            raise NotFound("no such thing")

        with pytest.raises(NotFound):
            flaky(0).insist(work, hold)
        assert calls == [1]
