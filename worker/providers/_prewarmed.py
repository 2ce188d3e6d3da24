"""A provider's desktops: the open one of each slot, and the next one, prepared in a background thread."""

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, Generic, Protocol, TypeVar

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, MachineLost
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import Desktop, DesktopSpec


class PrewarmedDesktop(Protocol):
    """A desktop prepared in advance: an OpenDesktop that knows whether it is alive."""

    details: Mapping[str, Any]

    @property
    def desktop(self) -> Desktop:
        """Interface of the running desktop."""

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

    def is_ready(self) -> bool:
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


class SlotDesktops(Generic[D]):
    """Per slot the open desktop and the next one, ready or being created. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: dict[SlotRef, D] = {}
        self._spares: dict[SlotRef, SpareDesktop[D]] = {}
        self.closed = False

    def open(self, slot: SlotRef, spec: DesktopSpec, make: Callable[[], D]) -> D:
        """The prepared desktop of the slot if it matches, else a new one; the slot's former one is destroyed.

        Raises:
            ClusterLost: the provider is closed.
        """
        with self._lock:
            former = self._open.pop(slot, None)
        if former is not None:
            former.close()
        with self._lock:
            spare = self._spares.pop(slot, None)
        opened = (spare.take(spec) if spare is not None else None) or make()
        with self._lock:
            closed = self.closed
            self._open[slot] = opened
        if closed:
            opened.close()
            raise ClusterLost("the worker is stopping", code="worker_stopping")
        return opened

    def prepare(
        self, slot: SlotRef, spec: DesktopSpec, make: Callable[[], D], *, seconds: float, most: int | None = None
    ) -> bool:
        """Starts creating the slot's next desktop, unless one of the same spec is ready or being created.

        Args:
            slot: the slot.
            spec: of the desktop.
            make: creates it.
            seconds: see `SpareDesktop`.
            most: maximum number of slots with a prepared desktop; None = no limit.

        Returns:
            Whether `make` will be called.
        """
        with self._lock:
            former = self._spares.get(slot)
            others = len(self._spares.keys() - {slot})
            if self.closed or (most is not None and others >= most) or (former is not None and former.spec == spec):
                return False
            spare = self._spares[slot] = SpareDesktop(spec, seconds)

        def make_next() -> D:
            if former is not None:
                former.discard()
            return warm_up(make())

        Thread(target=deliver, args=(spare.coming, make_next), name=f"spare {slot}").start()
        return True

    def unprepare(self, slot: SlotRef) -> None:
        """Destroys the slot's prepared desktop, if any, in a thread."""
        with self._lock:
            spare = self._spares.pop(slot, None)
        if spare is not None:
            Thread(target=spare.discard, name=f"no spare {slot}").start()

    @property
    def spares(self) -> Mapping[SlotRef, SpareDesktop[D]]:
        """The next desktops, as they are now."""
        with self._lock:
            return dict(self._spares)

    @property
    def open_desktops(self) -> Mapping[SlotRef, D]:
        """The open desktops, as they are now."""
        with self._lock:
            return dict(self._open)

    def discard_one(self) -> bool:
        """Destroys a prepared desktop of any slot; False if there is none."""
        with self._lock:
            _, spare = self._spares.popitem() if self._spares else (None, None)
        if spare is not None:
            spare.discard()
        return spare is not None

    def close(self) -> None:
        """Destroys everything. Safe to call twice."""
        with self._lock:
            self.closed = True
            spares, self._spares = list(self._spares.values()), {}
            opened, self._open = list(self._open.values()), {}
        for spare in spares:
            spare.discard()
        for desktop in opened:
            desktop.close()


def warm_up(desktop: D) -> D:
    """The desktop after a first capture of its screen, so that the first observation finds everything loaded."""
    with closed_on_failure(desktop):
        desktop.desktop.frame()
    return desktop


def _close_late(coming: "Future[Any]") -> None:
    """Destroys a desktop that became ready too late."""
    if coming.exception() is None:
        coming.result().close()


def deliver(coming: "Future[T]", make: Callable[[], T]) -> None:
    """Creates a desktop for current or later waiters. Every failure reaches them, as a `MachineLost`."""
    try:
        coming.set_result(make())
    except MachineLost as error:
        _set_failure(coming, error)
    except GuestRefused as error:
        _set_failure(
            coming,
            GuestLost(f"a prepared desktop refused a basic operation: {error.message}", code="desktop_refused"),
        )
    except Exception as error:
        # Otherwise the exception would end this thread, and waiters would wait until the deadline.
        logger.exception("preparing a desktop raised")
        _set_failure(
            coming,
            ClusterLost(
                f"a desktop could not be prepared: {type(error).__name__}: {error}", code="desktop_not_created"
            ),
        )


def _set_failure(coming: "Future[Any]", error: MachineLost) -> None:
    logger.warning("desktop not prepared: %s", error.message)
    coming.set_exception(error)


@contextmanager
def closed_on_failure(desktop: PrewarmedDesktop) -> Iterator[None]:
    """Context manager that closes a desktop if the block fails."""
    try:
        yield
    except BaseException:
        desktop.close()
        raise
