"""What is made ahead in a thread of its own, for whoever will take it."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, Lost
from backend.domain.ports import OpenDesktop

T = TypeVar("T")
logger = logging.getLogger(__name__)


def deliver(coming: "Future[T]", make: Callable[[], T]) -> None:
    """Makes what somebody waits for, or may come to wait for. Of every failure that one hears, and as a `Lost`."""
    try:
        coming.set_result(make())
    except Lost as error:
        _failed(coming, error)
    except GuestRefused as error:
        _failed(coming, GuestLost(f"a desktop made ahead refused what every desktop does: {error.message}"))
    except Exception as error:
        # It would end with this thread, and who waits would wait until the deadline.
        logger.exception("making a desktop ahead broke")
        _failed(coming, ClusterLost(f"a desktop could not be made ahead: {type(error).__name__}: {error}"))


def _failed(coming: "Future[Any]", error: Lost) -> None:
    logger.warning("a desktop could not be prepared: %s", error.message)
    coming.set_exception(error)


@contextmanager
def closed_on_failure(made: OpenDesktop) -> Iterator[None]:
    """Nothing is left of a desktop with which something goes wrong here."""
    try:
        yield
    except BaseException:
        made.close()
        raise
