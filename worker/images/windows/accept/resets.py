"""Starts and resets desktops like a run, and measures each."""

import statistics
import time
from collections.abc import Callable, Iterable

from backend.domain.errors import DeskarenaError, MachineLost
from backend.domain.machines.health import DEFAULT_LIMITS
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop, Provider
from worker.base.health import check_health
from worker.images.checks import CheckResult, answers
from worker.images.windows.accept.report import Section

RESETS = 20
_FEWEST = 2


def first_start(provider: Provider, spec: DesktopSpec) -> Section:
    """First start of the image, and the health check. Raises MachineLost if it does not start."""
    start = time.monotonic()
    opened = provider.open(SlotRef(0), spec)
    try:
        seconds = time.monotonic() - start
        gate = answers("health check", lambda: _gate(opened, spec))
        return Section(name="", lines=(gate,), facts={"seconds": round(seconds, 2), "details": dict(opened.details)})
    finally:
        opened.close()


def screens(provider: Provider, specs: Iterable[DesktopSpec]) -> Section:
    """Starts each screen size once: whether the image supports the sizes in its manifest."""
    return Section(name="", lines=tuple(_shows(provider, spec) for spec in specs))


def _shows(provider: Provider, spec: DesktopSpec) -> CheckResult:
    def ask() -> None:
        opened = provider.open(SlotRef(0), spec)
        try:
            _gate(opened, spec)
        finally:
            opened.close()

    return answers(f"shows {spec.screen.width}x{spec.screen.height}", ask)


def _gate(opened: OpenDesktop, spec: DesktopSpec) -> None:
    check_health(opened.desktop, spec.screen, opened.desktop.frame(), DEFAULT_LIMITS, pause=time.sleep)


def resets(provider: Provider, spec: DesktopSpec, count: int = RESETS, *, tell: Callable[[str], None]) -> Section:
    """Ends a desktop and takes the next, prepared one, repeatedly; measures from the end to the first picture."""
    lines, seconds, paths = [], list[float](), list[str]()
    opened = provider.open(SlotRef(0), spec)
    try:
        for number in range(1, count + 1):
            opened.desktop.frame()
            provider.prepare(SlotRef(0), spec)
            start = time.monotonic()
            opened.close()
            opened = provider.open(SlotRef(0), spec)
            opened.desktop.frame()
            seconds.append(time.monotonic() - start)
            paths.append(str(opened.details.get("path", "")))
            lines.append(answers(f"reset {number}", lambda now=opened: _gate(now, spec)))  # type: ignore[misc]
            tell(f"reset {number}: {seconds[-1]:.2f} s ({paths[-1]})")
    except MachineLost as error:
        lines.append(CheckResult(name=f"reset {len(seconds) + 1}", fault=error.message))
    finally:
        opened.close()
    if cold := paths.count("cold boot"):
        lines.append(CheckResult(name="resets are clones", fault=f"{cold} of {len(paths)} were cold boots"))
    facts = {"seconds": [round(second, 3) for second in seconds], "paths": paths, **_figures(seconds)}
    return Section(name="", lines=tuple(lines), facts=facts)


def _figures(seconds: list[float]) -> dict[str, float]:
    if len(seconds) < _FEWEST:
        return {}
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {f"p{share}": round(cuts[share - 1], 3) for share in (50, 95)}


def nothing_left(provider: Provider) -> CheckResult:
    """Closes the provider, which destroys everything that it created."""
    try:
        provider.close()
    except DeskarenaError as error:
        return CheckResult(name="nothing is left at the end", fault=error.message)
    return CheckResult(name="nothing is left at the end")
