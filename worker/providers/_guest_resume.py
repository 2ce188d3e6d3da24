"""Communication with the guest of a newly started machine: waits until it responds, and initialises it."""

import base64
import os
import time
from collections.abc import Callable
from threading import Event

from backend.domain.errors import GuestLost, GuestRefused
from worker.desktops import GuestDesktop
from worker.desktops.wire import GuestConnection, GuestUnwell

_TRY_SECONDS = 2.0
"""A booting machine accepts connections before anything in it listens: a try must end soon."""
_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE = 0.5
_RESTORED_SECONDS = 15.0
_STALE_SECONDS = 1.0
"""Half of the clock skew that the health check tolerates."""
_ENTROPY_BYTES = 64


def wait_answer(address: str, secret: str, *, seconds: float, dead: Callable[[], str]) -> float:
    """Waits until the guest API responds.

    Args:
        address: of the guest API.
        secret: the secret that it was started with.
        seconds: deadline.
        dead: returns why the machine is gone; empty while it runs.

    Returns:
        Seconds waited.

    Raises:
        GuestLost: it did not respond in time, or its machine is gone.
    """
    start, pause, wire = time.monotonic(), _PAUSE_SECONDS, GuestConnection(address, secret)
    try:
        while True:
            try:
                wire.ask("GET", "/probe", seconds=_TRY_SECONDS).mapping()
            except GuestUnwell:
                raise
            except GuestLost as error:
                waited = time.monotonic() - start
                if cause := dead():
                    raise GuestLost(
                        f"the machine ended before its guest API responded: {cause}", code="desktop_gone"
                    ) from error
                if waited > seconds:
                    message = f"the guest API did not respond within {seconds:g} s: {error.message}"
                    raise GuestLost(message, code="resume_failed") from error
                Event().wait(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)
            else:
                return time.monotonic() - start
    except GuestRefused as error:
        raise GuestLost(f"the guest API responds, but with an error: {error.message}", code="resume_failed") from error
    finally:
        wire.close()


def restore(desktop: GuestDesktop, secret: str, *, seconds: float = _RESTORED_SECONDS) -> None:
    """Tells a guest that it was resumed: current time, new secret, new random numbers.

    All clones of a template start with the same secret and the same state of the random number generator.

    Args:
        desktop: knows the guest's secret, and afterwards the new one.
        secret: new secret.
        seconds: deadline of a call, and of the repetitions.

    Raises:
        GuestLost: It failed.
    """
    deadline = time.monotonic() + seconds
    # On a busy host the time may be outdated when it arrives, more than once.
    while _resume_once(desktop, secret, seconds) > _STALE_SECONDS and time.monotonic() < deadline:
        pass


def _resume_once(desktop: GuestDesktop, secret: str, seconds: float) -> float:
    """One call; returns its duration in seconds."""
    start, entropy = time.monotonic(), base64.b64encode(os.urandom(_ENTROPY_BYTES)).decode()
    try:
        desktop.restored(secret, now=time.time(), entropy=entropy, seconds=seconds)
    except GuestRefused as error:
        raise GuestLost(
            f"the guest could not be told that it was resumed: {error.message}", code="resume_failed"
        ) from error
    return time.monotonic() - start


def settle(desktop: GuestDesktop, *, quiet: float, seconds: float) -> float:
    """Lets a newly booted machine settle; programs that start afterwards count as a task's.

    Returns:
        Seconds waited. A screen that never stops changing is not a failure.

    Raises:
        GuestLost: it is gone, or refuses.
    """
    waited = desktop.wait_stable(quiet=quiet, timeout=seconds)
    desktop.frame()
    try:
        desktop.call("POST", "/settled")
    except GuestRefused as error:
        raise GuestLost(
            f"the guest could not be told that it has settled: {error.message}", code="resume_failed"
        ) from error
    return waited
