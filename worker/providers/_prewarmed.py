"""What is made ahead in a thread of its own, for whoever will take it."""

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, MachineLost
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop


class PrewarmedDesktop(Protocol):
    """What a provider makes ahead: an OpenDesktop that can tell whether it lives."""

    details: Mapping[str, Any]

    def alive(self) -> bool:
        """Whether it could be used."""

    def close(self) -> None:
        """Destroys it."""


T = TypeVar("T")
D = TypeVar("D", bound=PrewarmedDesktop)
logger = logging.getLogger(__name__)


@dataclass
class SpareDesktop(Generic[D]):
    """A slot's next desktop, made or in the making.

    Attributes:
        seconds: for which whoever wants it, or wants it gone, waits while it is in the making.
    """

    spec: DesktopSpec
    seconds: float
    coming: "Future[D]" = field(default_factory=Future)

    def made(self) -> bool:
        """Whether it is there."""
        return self.coming.done() and self.coming.exception() is None

    def take(self, spec: DesktopSpec) -> D | None:
        """The desktop, if it is what is wanted and well; else it is destroyed."""
        if spec == self.spec:
            ready = self._wait()
            if ready is None or ready.alive():
                if ready is not None:
                    ready.details = {**ready.details, "prepared": True}
                return ready
        self.discard()
        return None

    def discard(self) -> None:
        """Destroys it; one that is in the making, when it is there."""
        ready = self._wait()
        if ready is not None:
            ready.close()

    def _wait(self) -> D | None:
        """None if it could not be made; or not in time: then it is destroyed as soon as it comes."""
        try:
            return self.coming.result(self.seconds)
        except MachineLost as error:
            logger.info("a prepared desktop was not there: %s", error.message)
        except TimeoutError:
            self.coming.add_done_callback(_close_late)
        return None


def _close_late(coming: "Future[Any]") -> None:
    """Destroys a desktop that came when nobody waited for it any more."""
    if coming.exception() is None:
        coming.result().close()


def deliver(coming: "Future[T]", make: Callable[[], T]) -> None:
    """Makes what somebody waits for, or may wait for later. Every failure reaches them, as a `MachineLost`."""
    try:
        coming.set_result(make())
    except MachineLost as error:
        _failed(coming, error)
    except GuestRefused as error:
        _failed(
            coming,
            GuestLost(f"a desktop made ahead refused what every desktop does: {error.message}", code="desktop_refused"),
        )
    except Exception as error:
        # It would end with this thread, and who waits would wait until the deadline.
        logger.exception("making a desktop ahead broke")
        _failed(
            coming,
            ClusterLost(
                f"a desktop could not be made ahead: {type(error).__name__}: {error}", code="desktop_not_created"
            ),
        )


def _failed(coming: "Future[Any]", error: MachineLost) -> None:
    logger.warning("a desktop could not be prepared: %s", error.message)
    coming.set_exception(error)


@contextmanager
def closed_on_failure(desktop: OpenDesktop) -> Iterator[None]:
    """Nothing is left of a desktop with which something goes wrong here."""
    try:
        yield
    except BaseException:
        desktop.close()
        raise
