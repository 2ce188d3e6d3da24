from concurrent.futures import Future

import pytest

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, Lost
from tests.fakes.desktop import FakeDesktop
from tests.fakes.provider import FakeOpenDesktop
from worker.providers._spares import closed_on_failure, deliver


def failing(error: BaseException) -> int:
    raise error


class TestDeliver:
    def test_what_was_made_comes(self) -> None:
        coming: Future[int] = Future()
        deliver(coming, lambda: 1)
        assert coming.result(0) == 1

    @pytest.mark.parametrize(
        ("error", "kind", "words"),
        [
            (ClusterLost("no room"), ClusterLost, "^no room$"),
            (GuestRefused("a reply over the limit", kind="too_large"), GuestLost, "a reply over the limit"),
            (ValueError("3 is no size"), ClusterLost, "ValueError: 3 is no size"),
        ],
    )
    def test_who_waits_hears_of_every_failure(self, error: Exception, kind: type[Lost], words: str) -> None:
        coming: Future[int] = Future()
        deliver(coming, lambda: failing(error))
        with pytest.raises(kind, match=words):
            coming.result(0)


class TestClosedOnFailure:
    def test_a_desktop_that_fails_is_closed(self) -> None:
        made = FakeOpenDesktop(FakeDesktop(), 0)
        with pytest.raises(GuestRefused), closed_on_failure(made):
            raise GuestRefused("a reply over the limit")
        assert made.closed == 1

    def test_one_that_does_not_stays(self) -> None:
        made = FakeOpenDesktop(FakeDesktop(), 0)
        with closed_on_failure(made):
            pass
        assert made.closed == 0
