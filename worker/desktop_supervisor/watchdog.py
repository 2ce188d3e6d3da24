"""Watchdog: ends desktops that use too much memory or too many processes where the kernel does not limit them."""

from collections.abc import Iterable

from worker.desktop_supervisor.desktop import SupervisedDesktop
from worker.local import watchdog
from worker.local.limits import MIB

SECONDS = 0.2
SECONDS_NEAR = 0.03
"""Interval in seconds, and the interval once a desktop uses half of a limit."""
_PROCESS_TOLERANCE = 8
"""The sandbox's own processes."""


def measure_all(desktops: Iterable[SupervisedDesktop]) -> float:
    """Measures all desktops, ends those over a limit, updates all peaks. Returns seconds until the next measurement."""
    usages: list[tuple[int, SupervisedDesktop]] = []
    for desktop in desktops:
        sample = desktop.measure() if desktop.ready and not desktop.stopping else None
        if sample is not None and not desktop.bounded_by_group("memory"):
            usages.append((sample.memory, desktop))
            _judge(desktop, sample)
    if usages:
        _protect_host(usages)
    near = any(memory > desktop.limits.memory // 2 for memory, desktop in usages)
    return SECONDS_NEAR if near else SECONDS


def _judge(desktop: SupervisedDesktop, sample: watchdog.UsageSample) -> None:
    limits = desktop.limits
    if sample.memory > limits.memory:
        desktop.kill(f"memory limit: it used {sample.memory // MIB} of {limits.memory // MIB} MiB", "memory_limit")
    elif sample.processes > limits.processes + _PROCESS_TOLERANCE and not desktop.bounded_by_group("pids"):
        desktop.kill(f"process limit: it had {sample.processes} of {limits.processes} processes", "process_limit")


def _protect_host(usages: list[tuple[int, SupervisedDesktop]]) -> None:
    """The kernel limits nothing here: ends the largest desktop before the host runs out of memory."""
    available, total = watchdog.host_memory()
    if available < max(256 * MIB, total // 32):
        _, largest = max(usages, key=lambda pair: pair[0])
        largest.kill(f"memory limit: the host has only {available // MIB} MiB left", "host_memory")
