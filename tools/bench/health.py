"""`make bench-health`: opens fresh desktops of each kind and counts false alarms of the health check.

Each desktop is checked as before an attempt: nobody has acted on it, so whatever the check reports is a false alarm, or
a fault of this machine. As in use, the next desktop is prepared while one is open. A new provider with an empty data
folder is made again and again, as on a new machine. Writes docs/reports/health-gate.md while it runs; ends with 1 after
an alarm. `ARGS="--number N"` opens N of each kind, `--kind` only some, `--minutes N` stops after that time, and
`--image NAME` adds virtual machines of an image of the data folder.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from backend.config import Settings, get_settings
from backend.domain.errors import MachineLost
from backend.domain.machines.health import DEFAULT_LIMITS
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec, Provider
from tools.bench.figures import measured_on, percentile
from tools.bench.loop import say
from worker.base.health import check_health
from worker.providers.local import LocalProvider
from worker.providers.qemu import QemuProvider

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "health-gate.md"
KINDS = {"linux": "Linux programs, local", "wine": "Windows programs, local (Wine)", "vm": "virtual machine"}
ROUND = 25
"""Desktops of a kind for which one provider is used."""
SLOT = SlotRef(0)
HEAD = """# False alarms of the health check

Written by `make bench-health`: fresh desktops of each kind, checked like before an attempt ([health
check](../internals/health.md)). Nobody has acted on them, so every finding is a false alarm or a fault of the machine.
Most are prepared while the desktop before is open, as in use. After each {round} of a kind, provider and data folder
are new, as on a new machine.

"""


@dataclass
class HealthCount:
    """Desktops of one kind.

    Attributes:
        seconds: from the request to the end of the check.
        alarms: what the check reported.
        lost: why desktops were not created.
        unremoved: why desktops were not removed in time.
    """

    seconds: list[float] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    unremoved: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of desktops, lost ones included."""
        return len(self.seconds) + len(self.alarms) + len(self.lost)


def main() -> int:
    """Opens and checks desktops, writes the page."""
    options = _options()
    load, deadline = os.getloadavg()[0], time.monotonic() + 60 * options.minutes
    counts = {kind: HealthCount() for kind in options.kind or ["linux", "wine", *(["vm"] if options.image else [])]}
    while time.monotonic() < deadline and (due := [kind for kind in counts if counts[kind].total < options.number]):
        for kind in due:
            say(f"{kind}: {counts[kind].total} desktops, {len(counts[kind].alarms)} alarms")
            with provider_of(kind) as provider:
                number = min(ROUND, options.number - counts[kind].total)
                check_desktops(provider, spec_of(kind, options.image), number, counts[kind], until=deadline)
        PAGE.write_text(page(counts, load))
    sys.stdout.write(page(counts, load))
    return int(any(count.alarms for count in counts.values()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=500, help="desktops of each kind")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind (repeatable)")
    parser.add_argument("--image", default="", help="image of virtual machines")
    parser.add_argument("--minutes", type=float, default=600.0, help="stop after this time")
    return parser.parse_args()


@contextmanager
def provider_of(kind: str) -> Iterator[Provider]:
    """A new provider; local desktops get an empty data folder."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        provider = QemuProvider(get_settings()) if kind == "vm" else LocalProvider(Settings(data_dir=Path(folder)))
        try:
            yield provider
        finally:
            provider.close()


def spec_of(kind: str, image: str) -> DesktopSpec:
    """The desktop of a kind."""
    return DesktopSpec(image=image if kind == "vm" else kind)


def check_desktops(
    provider: Provider,
    spec: DesktopSpec,
    number: int,
    count: HealthCount,
    *,
    until: float,
) -> None:
    """Opens, checks and closes desktops one after the other, each next one prepared meanwhile.

    Args:
        provider: makes them.
        spec: of each.
        number: how many.
        count: receives the results.
        until: time of the monotonic clock after which no further one is opened.
    """
    for index in range(number):
        if time.monotonic() >= until:
            return
        start = time.monotonic()
        try:
            opened = provider.open(SLOT, spec)
        except MachineLost as error:
            count.lost.append(error.text)
            continue
        try:
            frame = opened.desktop.frame()
            check_health(opened.desktop, spec.screen, frame, DEFAULT_LIMITS, pause=time.sleep)
            count.seconds.append(time.monotonic() - start)
            if index + 1 < number:
                provider.prepare(SLOT, spec)
        except MachineLost as error:
            count.alarms.append(error.text)
        try:
            opened.close()
        except MachineLost as error:
            count.unremoved.append(error.text)


def page(counts: dict[str, HealthCount], load: float) -> str:
    """The report."""
    rows = [f"| {KINDS[kind]} | {_row(count)} |" for kind, count in counts.items()]
    alarms = [f"- {KINDS[kind]}: {text}" for kind, count in counts.items() for text in _texts(count)]
    lines = [
        measured_on(load),
        "",
        "| desktops | opened | false alarms | not created | s to the end of the check, half | 95 % |",
        "|---|---|---|---|---|---|",
        *rows,
        *(["", *alarms] if alarms else []),
    ]
    return HEAD.replace("{round}", str(ROUND)) + "\n".join(lines) + "\n"


def _row(count: HealthCount) -> str:
    half, most = (f"{percentile(count.seconds, share):.1f}" if count.seconds else "" for share in (0.5, 0.95))
    return f"{count.total} | {len(count.alarms)} | {len(count.lost)} | {half} | {most}"


def _texts(count: HealthCount) -> Sequence[str]:
    return [
        *(f"alarm: {text}" for text in count.alarms),
        *(f"not created: {text}" for text in count.lost),
        *(f"not removed in time: {text}" for text in count.unremoved),
    ]


if __name__ == "__main__":
    sys.exit(main())
