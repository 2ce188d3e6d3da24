"""The watchdog: ends desktops that use too much memory or too many processes where the kernel does not do it."""

from collections.abc import Iterable

from worker.desktop_supervisor.desktop import KeptDesktop
from worker.local import watchdog
from worker.local.limits import MIB

SECONDS = 0.2
SECONDS_NEAR = 0.03
"""How often it looks, and how often once a desktop holds half of what it may."""
_PROCESS_TOLERANCE = 8
"""The sandbox's own processes."""


def look(desktops: Iterable[KeptDesktop]) -> float:
    """Measures all desktops, ends those over a limit, keeps all peaks. Returns seconds until the next look."""
    held: list[tuple[int, KeptDesktop]] = []
    for desktop in desktops:
        found = desktop.measure() if desktop.ready and not desktop.stopping else None
        if found is not None and not desktop.bounded_by_group("memory"):
            held.append((found.memory, desktop))
            _judge(desktop, found)
    if held:
        _protect_host(held)
    near = any(memory > desktop.limits.memory // 2 for memory, desktop in held)
    return SECONDS_NEAR if near else SECONDS


def _judge(desktop: KeptDesktop, found: watchdog.Sample) -> None:
    limits = desktop.limits
    if found.memory > limits.memory:
        desktop.kill(f"memory limit: it held {found.memory // MIB} of {limits.memory // MIB} MiB")
    elif found.processes > limits.processes + _PROCESS_TOLERANCE and not desktop.bounded_by_group("pids"):
        desktop.kill(f"process limit: it had {found.processes} of {limits.processes} processes")


def _protect_host(held: list[tuple[int, KeptDesktop]]) -> None:
    """Nothing in the kernel bounds these: the largest one goes before the host itself runs out of memory."""
    available, total = watchdog.host_memory()
    if available < max(256 * MIB, total // 32):
        _, largest = max(held, key=lambda pair: pair[0])
        largest.kill(f"memory limit: the host has only {available // MIB} MiB left")
