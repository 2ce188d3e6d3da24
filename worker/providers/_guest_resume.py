"""Talking to the guest of a machine that has just been started: until it answers, and what it must hear first."""

import base64
import os
import time
from collections.abc import Callable
from threading import Event

from backend.domain.errors import GuestLost, GuestRefused
from worker.desktops import GuestDesktop
from worker.desktops.wire import GuestConnection, GuestUnwell

_TRY_SECONDS = 2.0
"""A machine that boots takes connections before anybody in it listens: a try must end soon."""
_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE = 0.5
_RESTORED_SECONDS = 15.0
_STALE_SECONDS = 1.0
"""Half of what the health gate forgives."""
_ENTROPY_BYTES = 64


def wait_answer(address: str, secret: str, *, seconds: float, dead: Callable[[], str]) -> float:
    """Waits until the guest API answers.

    Args:
        address: of the guest API.
        secret: that it was started with.
        seconds: deadline.
        dead: why the machine is gone; empty while it is there.

    Returns:
        Seconds waited.

    Raises:
        GuestLost: it did not answer in time, or its machine is gone.
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
                if why := dead():
                    raise GuestLost(
                        f"the machine ended before its guest API answered: {why}", code="desktop_gone"
                    ) from error
                if waited > seconds:
                    message = f"the guest API did not answer within {seconds:g} s: {error.message}"
                    raise GuestLost(message, code="resume_failed") from error
                Event().wait(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)
            else:
                return time.monotonic() - start
    except GuestRefused as error:
        raise GuestLost(f"the guest API answers, but not to this: {error.message}", code="resume_failed") from error
    finally:
        wire.close()


def restore(desktop: GuestDesktop, secret: str, *, seconds: float = _RESTORED_SECONDS) -> None:
    """Tells a guest that it goes on: another time, another secret, other random numbers.

    All clones of a template begin with the same secret and the same state of the random number generator.

    Args:
        desktop: knows the secret that the guest has, and the new one from then on.
        secret: that it gets.
        seconds: deadline.

    Raises:
        GuestLost: it does not do it.
    """
    if _resume_once(desktop, secret, seconds) > _STALE_SECONDS:
        # The time that it was told was old when it came, as on a busy host; now the guest is awake.
        _resume_once(desktop, secret, seconds)


def _resume_once(desktop: GuestDesktop, secret: str, seconds: float) -> float:
    """One call; seconds that it took."""
    start, entropy = time.monotonic(), base64.b64encode(os.urandom(_ENTROPY_BYTES)).decode()
    try:
        desktop.restored(secret, now=time.time(), entropy=entropy, seconds=seconds)
    except GuestRefused as error:
        raise GuestLost(
            f"the guest could not be told that it was restored: {error.message}", code="resume_failed"
        ) from error
    return time.monotonic() - start


def settle(desktop: GuestDesktop, *, quiet: float, seconds: float) -> float:
    """Lets a machine that has just booted come to rest; programs that start from then on count as a task's.

    Returns:
        Seconds waited. A screen that never stands still is no failure.

    Raises:
        GuestLost: it is gone, or does not take note.
    """
    waited = desktop.wait_stable(quiet=quiet, timeout=seconds)
    desktop.frame()
    try:
        desktop.call("POST", "/settled")
    except GuestRefused as error:
        raise GuestLost(
            f"the guest could not be told that it is at rest: {error.message}", code="resume_failed"
        ) from error
    return waited
