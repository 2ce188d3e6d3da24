"""`make bench-reset`: measures the reset of virtual machines, from the end of an attempt to the next first observation.

Four clones of an image run at a time; one after the other is closed and opened again. In turn with them, so that other
work on the machine slows both alike: a fifth that only QEMU resets (ended, another one started, its state loaded, asked
for its first picture, nothing else). In the same run: machines that were prepared ahead, and a cold boot. Writes
docs/reports/performance-reset.md; ends with 1 if an aim is missed. `ARGS="--image NAME"` takes an image of the data
folder, else the only one there; `--screen WxH` another size; `--tiny` takes one of kernel and busybox that boots in
seconds; `--quick` takes fewer samples and writes nothing.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from backend.config import Settings
from backend.domain.errors import NotFound
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.health import DEFAULT_LIMITS
from backend.domain.machines.machine_image import find_image
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from tests.factories.own_machines import held, own_folder
from tests.factories.tiny_machine import SCREEN, tiny_image
from tests.waiting import until
from tools.bench.figures import Figure, percentile
from tools.bench.figures import page as page_of
from worker.desktops import GuestDesktop
from worker.providers.qemu import QemuProvider
from worker.providers.vm_factory import VmFactory, address_of
from worker.providers.vm_order import VmRequest
from worker.qemu.client import SlotSupervisor
from worker.qemu.plan import Host, this_host
from worker.qemu.slot import CLONE
from worker.qemu.templates import Template

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-reset.md"
SLOTS = tuple(SlotRef(index) for index in range(4))
MOST_P50, MOST_P95, MOST_RATIO = 1.0, 2.5, 1.3
READY_SECONDS, LINE_SECONDS = 120.0, 10.0
HEAD = """# Performance of resets

Measured by `make bench-reset`, which writes this page. A reset goes from the end of an attempt to the first observation
of the next one: the machine is removed, the slot's next one is there, and its first picture has come. Four machines run
all the time. A bare QEMU clone is what cannot be saved: the old QEMU ended, another one started on the template, its
state loaded, one picture asked for. It takes its turn with the resets, so that other work on the machine slows both
alike: the ratio counts where the seconds depend on how busy the machine was. In use a reset is mostly the one that was
prepared ahead, while the old machine was still evaluated. Its way out is made ready after the first picture.

"""


@dataclass(frozen=True)
class ResetTarget:
    """Desktop to measure.

    Attributes:
        data: folder with images and templates; machines write there, too.
        order: the machine.
    """

    data: Path
    spec: DesktopSpec
    order: VmRequest
    host: Host


def main() -> int:
    """Measures, writes the page; the exit code tells whether all targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", default="default")
    parser.add_argument("--screen", default="1280x800")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--note", default="", help="what the reader must know of this measurement")
    options = parser.parse_args()
    times, load = (8 if options.quick else 40), os.getloadavg()[0]
    with own_folder(), _place(options) as target:
        figures = measured(target, times)
    details = f"Image {target.order.image.name} ({target.order.image.variant}, {target.order.image.memory_mib} MiB), "
    details += f"{target.spec.screen.width}x{target.spec.screen.height}, "
    details += f"{target.host.acceleration.accelerator}, {target.host.qemu}.\n"
    details += f"{options.note}\n" if options.note else ""
    text = page_of(figures, load, HEAD + details)
    sys.stdout.write(text)
    if not options.quick:
        PAGE.write_text(text)
    return 0 if all(figure.met is not False for figure in figures) else 1


@contextmanager
def _place(options: argparse.Namespace) -> Iterator[ResetTarget]:
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) if options.tiny else Settings().data_dir
        if options.tiny:
            tiny_image(data / "images")
        host = this_host(Settings().accelerator)
        where, image = find_image(data / "images", options.image, default=Settings().default_image)
        width, _, height = options.screen.partition("x")
        screen = SCREEN if options.tiny else ScreenSize(width=int(width), height=int(height))
        spec = DesktopSpec(screen=screen, image=image.name)
        yield ResetTarget(data, spec, VmRequest.for_image(where, image, spec, host), host)


def measured(target: ResetTarget, times: int) -> list[Figure]:
    """All figures, in one run."""
    provider = QemuProvider(Settings(data_dir=target.data, qemu_warm_vms=1))
    try:
        template = provider.template(target.spec)
        opened = [provider.open(slot, target.spec) for slot in SLOTS]
        with _bare(target, template) as bare_reset:
            for slot in SLOTS:
                _reset(provider, opened, slot, target.spec)
            before = held(target.data).count()
            turns = list(islice(cycle(SLOTS), times))
            pairs = [(_reset(provider, opened, slot, target.spec), bare_reset()) for slot in turns]
            # A line of a way out may still be opening.
            with suppress(AssertionError):
                until(lambda: held(target.data).count() == before, LINE_SECONDS)
            leaked = held(target.data).count() - before
        ahead = [_reset(provider, opened, slot, target.spec, ahead=True) for slot in turns[: times // 2]]
        private = [desktop.private_bytes() / 2**20 for desktop in opened]  # type: ignore[attr-defined]
        opened.pop().close()
        cold = [_cold(target)]
    finally:
        provider.close()
    resets, bare = zip(*pairs, strict=True)
    ratio, saved = (percentile(seconds, 0.5) / percentile(bare, 0.5) for seconds in (resets, ahead))
    return [
        _percentile_figure("reset, the next machine cloned on demand", f"p50 <= {MOST_P50:g} s", resets, 0.5, MOST_P50),
        _percentile_figure("— the same", f"p95 <= {MOST_P95:g} s", resets, 0.95, MOST_P95),
        Figure("reset, the next machine prepared ahead", "", "s", tuple(ahead)),
        Figure("reset of a bare QEMU clone", "", "s", bare),
        Figure("reset on demand against a bare clone", f"<= {MOST_RATIO:g}", "times", (ratio,), ratio <= MOST_RATIO),
        Figure("reset prepared ahead against a bare clone", "", "times", (saved,)),
        Figure("cold boot to the first picture", "", "s", tuple(cold)),
        Figure("the template, made once", "", "s", (template.seconds["all"],)),
        Figure("memory of a clone's own after its first picture", "", "MiB", tuple(private)),
        Figure("processes, sockets, files and descriptors left by all resets", "0", "", (float(leaked),), leaked == 0),
    ]


def _percentile_figure(label: str, aim: str, values: Sequence[float], share: float, most: float) -> Figure:
    return Figure(label, aim, "s", tuple(values), percentile(values, share) <= most)


def _reset(
    provider: QemuProvider, opened: list[OpenDesktop], slot: SlotRef, spec: DesktopSpec, *, ahead: bool = False
) -> float:
    """Seconds of one reset. `ahead`: while the old machine is still evaluated, the next one is made."""
    if ahead:
        provider.prepare(slot, spec)
        until(lambda: provider.ready(slot), READY_SECONDS)
    start = time.monotonic()
    opened[slot.index].close()
    opened[slot.index] = provider.open(slot, spec)
    opened[slot.index].desktop.frame()
    seconds = time.monotonic() - start
    opened[slot.index].let_out(EgressRules(), _no_file)
    return seconds


def _no_file(sha256: str) -> bytes:
    raise NotFound(sha256)


@contextmanager
def _bare(target: ResetTarget, template: Template) -> Iterator[Callable[[], float]]:
    """A machine reset by QEMU alone; yields a function that resets once and returns the seconds."""
    supervisor = SlotSupervisor(target.data / "machines")
    handle = supervisor.start(CLONE, target.order.machine, folder=template.place)

    def reset() -> float:
        nonlocal handle
        start = time.monotonic()
        supervisor.end(handle)
        handle = supervisor.start(CLONE, target.order.machine, folder=template.place)
        _first_picture(address_of(handle), template.secret, target.spec.screen)
        return time.monotonic() - start

    try:
        yield reset
    finally:
        supervisor.close()


def _cold(target: ResetTarget) -> float:
    """Seconds of a cold boot, with three others running."""
    supervisor = SlotSupervisor(target.data / "machines")
    try:
        start = time.monotonic()
        vm = VmFactory(DEFAULT_LIMITS).boot(supervisor, target.order, "measured")
        vm.desktop.frame()
        vm.desktop.close()
        return time.monotonic() - start
    finally:
        supervisor.close()


def _first_picture(address: str, secret: str, screen: ScreenSize) -> None:
    client = GuestDesktop(address, secret, screen=screen)
    client.frame()
    client.close()


if __name__ == "__main__":
    sys.exit(main())
