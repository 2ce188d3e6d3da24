"""`make bench-wine`: resets of Wine's desktops, and what the prefix adds to one; writes its page below docs/reports/.

With `--quick` it takes fewer samples and writes nothing.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from backend.config import Settings
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from tests.integration.desktop_supervisor.helpers import SMALL, STANDIN
from tests.waiting import until
from tools.bench.figures import Figure, page, percentile
from tools.bench.loop import figure, say
from worker.desktop_supervisor.client import DesktopHandle, DesktopSupervisorClient, DesktopSupervisorOptions
from worker.providers.local import LocalProvider

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-wine.md"
HEAD = """# Performance of Wine's desktops

Measured by `make bench-wine`, which resets real [desktops of Wine](../internals/wine.md), writes this page and prints
its table; nothing here is estimated. A reset goes from the end of one desktop to the first answer of the next. The
first three lines are the sandbox alone, with a small server inside instead of Wine: what the prefix adds (its overlay,
the user's folders) is the difference to the median without one. The last two are whole desktops of 1920x1080, to their
first picture.

"""
LIMIT_MS = 100.0
LONG = 300.0
INSIDE = ("/usr/bin/python3", "-m", "guest_server.linux.session")
SPEC = DesktopSpec(image="wine")


def main() -> int:
    """Measures everything; the exit code tells whether the target was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        figures = [*prefixes(Path(folder), 5 if quick else 50), *desktops(Path(folder), 2 if quick else 10)]
    written = page(figures, load, HEAD)
    sys.stdout.write(written)
    if not quick:
        PAGE.write_text(written)
    return 0 if all(figure.met is not False for figure in figures) else 1


def prefixes(folder: Path, times: int) -> list[Figure]:
    """The sandbox with a prefix and without, in turn, so that other work on the machine meets both alike."""
    say("sandboxes with and without a prefix")
    (folder / "site").mkdir()
    supervisor = DesktopSupervisorClient(
        DesktopSupervisorOptions(cache=folder / "cache", server=STANDIN, site=folder / "site")
    )
    try:
        resets = {system: sandbox(supervisor, system) for system in ("linux", "windows")}
        durations: dict[str, list[float]] = {system: [] for system in resets}
        for _ in range(times):
            for system, reset in resets.items():
                durations[system].append(reset() * 1000)
    finally:
        supervisor.close()
    plain = percentile(durations["linux"], 0.5)
    more = [value - plain for value in durations["windows"]]
    return [
        figure("sandbox without a prefix", "", "ms", durations["linux"], None),
        figure("sandbox with a prefix", "", "ms", durations["windows"], None),
        figure("what the prefix adds", f"p50 <= {LIMIT_MS:.0f} ms", "ms", more, (0.5, LIMIT_MS)),
    ]


def sandbox(supervisor: DesktopSupervisorClient, system: str) -> Callable[[], float]:
    """A reset of a sandbox, in seconds; the first one there is made now."""

    def spawn() -> DesktopHandle:
        return supervisor.spawn(secret="s", screen=(800, 600), limits=SMALL, timeout=60, os=system, command=INSIDE)

    current = spawn()

    def reset() -> float:
        nonlocal current
        start = time.monotonic()
        supervisor.destroy(current)
        current = spawn()
        return time.monotonic() - start

    return reset


def desktops(folder: Path, times: int) -> list[Figure]:
    """Complete desktops, created on request and prepared in advance."""
    provider = LocalProvider(Settings(data_dir=folder))
    try:
        say("whole desktops")
        cold = resets(provider, times, ahead=False)
        say("whole desktops, prepared ahead")
        ahead = resets(provider, times, ahead=True)
    finally:
        provider.close()
    return [
        figure("whole desktop, made when asked for", "", "s", cold, None),
        figure("whole desktop, prepared ahead", "", "s", ahead, None),
    ]


def resets(provider: LocalProvider, times: int, *, ahead: bool) -> list[float]:
    """Seconds from one desktop's end to the next one's first picture."""
    seconds = []
    opened = provider.open(SlotRef(0), SPEC)
    for _ in range(times):
        if ahead:
            provider.prepare(SlotRef(0), SPEC)
            until(provider.slot_desktops.spares[SlotRef(0)].coming.done, LONG)
        start = time.monotonic()
        opened.close()
        opened = provider.open(SlotRef(0), SPEC)
        opened.desktop.frame()
        seconds.append(time.monotonic() - start)
    opened.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
