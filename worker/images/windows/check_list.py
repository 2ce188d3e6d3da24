"""Check list of a Windows image: waits for the guest API of a started machine and runs the checks."""

import time
from collections.abc import Callable
from contextlib import suppress

from backend.domain.errors import DeskarenaError, GuestLost
from backend.domain.ports.desktop import Desktop
from worker.desktops.guest import GuestDesktop
from worker.images.checks import CheckResult, basics, starts
from worker.images.windows.machine import Build
from worker.images.windows.plan import BuildPlan

READY_SECONDS = 900.0
_LOOK = 1.0


def check_list(running: Build, plan: BuildPlan) -> tuple[CheckResult, ...]:
    """Basic checks, then every program of the plan that shows a window. Raises GuestLost."""
    desktop = GuestDesktop(f"http://127.0.0.1:{running.qemu.port()}", running.secret)
    try:
        screen = running.screen
        with running.tracker.during("boot", "waiting for the guest API", limit=READY_SECONDS, screen=screen):
            wait_ready(desktop, READY_SECONDS, running.look)
        installed = [(program.name, program.check) for program in plan.programs.programs if program.check is not None]
        brought_along = [(program.name, program.check) for program in plan.programs.inbox]
        return (*basics(desktop), *(starts(desktop, name, check) for name, check in installed + brought_along))
    finally:
        desktop.close()


def wait_ready(desktop: Desktop, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> float:
    """Waits until the guest API responds. Returns the seconds. Raises GuestLost."""
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        with suppress(DeskarenaError):
            desktop.probe()
            return time.monotonic() - start
        meanwhile()
        time.sleep(_LOOK)
    raise GuestLost(f"the guest API did not respond within {seconds:.0f} s", code="desktop_unreachable")
