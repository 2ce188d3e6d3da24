"""Prepares a slot's next desktop in a background thread."""

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, MachineLost
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop


class PrewarmedDesktop(Protocol):
    """A desktop prepared in advance: an OpenDesktop that knows whether it is alive."""

    details: Mapping[str, Any]

    def alive(self) -> bool:
        """Whether it is usable."""

    def close(self) -> None:
        """Destroys the desktop."""


T = TypeVar("T")
D = TypeVar("D", bound=PrewarmedDesktop)
logger = logging.getLogger(__name__)


@dataclass
class SpareDesktop(Generic[D]):
    """A slot's next desktop, ready or being created.

    Attributes:
        seconds: maximum wait for one that is being created.
    """

    spec: DesktopSpec
    seconds: float
    coming: "Future[D]" = field(default_factory=Future)

    def made(self) -> bool:
        """Whether it is ready."""
        return self.coming.done() and self.coming.exception() is None

    def take(self, spec: DesktopSpec) -> D | None:
        """The desktop if it matches and is healthy; otherwise it is destroyed."""
        if spec == self.spec:
            ready = self._wait()
            if ready is None or ready.alive():
                if ready is not None:
                    ready.details = {**ready.details, "prepared": True}
                return ready
        self.discard()
        return None

    def discard(self) -> None:
        """Destroys it; one that is being created, once it is ready."""
        ready = self._wait()
        if ready is not None:
            ready.close()

    def _wait(self) -> D | None:
        """None if it failed, or is not ready in time: then it is destroyed as soon as it is."""
        try:
            return self.coming.result(self.seconds)
        except MachineLost as error:
            logger.info("prepared desktop not available: %s", error.message)
        except TimeoutError:
            self.coming.add_done_callback(_close_late)
        return None


def _close_late(coming: "Future[Any]") -> None:
    """Destroys a desktop that became ready after nobody waited for it."""
    if coming.exception() is None:
        coming.result().close()


def deliver(coming: "Future[T]", make: Callable[[], T]) -> None:
    """Creates a desktop for current or later waiters. Every failure reaches them, as a `MachineLost`."""
    try:
        coming.set_result(make())
    except MachineLost as error:
        _failed(coming, error)
    except GuestRefused as error:
        _failed(
            coming,
            GuestLost(f"a prepared desktop refused a basic operation: {error.message}", code="desktop_refused"),
        )
    except Exception as error:
        # Otherwise the exception would end this thread, and waiters would wait until the deadline.
        logger.exception("preparing a desktop raised")
        _failed(
            coming,
            ClusterLost(
                f"a desktop could not be prepared: {type(error).__name__}: {error}", code="desktop_not_created"
            ),
        )


def _failed(coming: "Future[Any]", error: MachineLost) -> None:
    logger.warning("desktop not prepared: %s", error.message)
    coming.set_exception(error)


@contextmanager
def closed_on_failure(desktop: OpenDesktop) -> Iterator[None]:
    """Context manager that closes a desktop if the block fails."""
    try:
        yield
    except BaseException:
        desktop.close()
        raise
