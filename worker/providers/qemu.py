"""The `qemu` provider: virtual machines on this host, reset by discarding a clone and starting the next.

`worker/qemu/` controls QEMU, this module the guest: docs/internals/qemu.md.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from backend.config import Settings
from backend.domain.errors import ClusterLost, DeskarenaError
from backend.domain.machines.machine_image import find_image, read_image
from backend.domain.machines.slots import SlotRef, largest, need_of
from backend.domain.model.units import MIB
from backend.domain.ports.desktop import Availability, DesktopSpec, OpenDesktop
from backend.domain.registry import PluginKind, register
from worker.activity import Tracker
from worker.base.health import health_limits
from worker.egress import Gateways
from worker.local.capacity import free_memory
from worker.providers._images import offers
from worker.providers._prewarmed import SlotDesktops
from worker.providers._template_store import LocalTemplateStore, VmHost
from worker.providers._vm_desktop import QemuDesktop
from worker.providers.vm_factory import BOOT_SECONDS, VmFactory, remove
from worker.providers.vm_order import VmRequest
from worker.qemu.client import SlotSupervisor, SupervisorError
from worker.qemu.memory_budget import MemoryBudget
from worker.qemu.plan import Host, this_host
from worker.qemu.templates import Template, Templates

_NO_IMAGE = (
    "there is no machine image. Build one with `deskarena image build linux` (docs/internals/machine-images.md)."
)
_TEMPLATES = SlotRef(-1)
"""Key of the supervisor that creates templates on request."""
_HINT = "See docs/internals/qemu.md for requirements; `deskarena doctor` shows what is missing."
logger = logging.getLogger(__name__)


@dataclass(eq=False)
class _Claim:
    """Maximum bytes of a machine, reserved from before its creation until it is gone."""

    size: int
    machine: QemuDesktop | None = None

    def holds(self) -> bool:
        return self.machine is None or self.machine.alive()

    def used(self) -> int:
        return self.machine.private_bytes() if self.machine is not None else 0


@register(PluginKind.PROVIDER, "qemu")
class QemuProvider:
    """Creates virtual machines through one supervisor process per slot. Thread-safe."""

    name = "qemu"

    def __init__(self, settings: Settings) -> None:
        """Does not start yet. Args: settings: the data folder has images and templates."""
        self._settings = settings
        self._images = settings.data_dir / "images"
        self._overlays = settings.data_dir / "machines"
        self._templates = Templates(settings.data_dir / "templates")
        self._stock = LocalTemplateStore(self._templates)
        self._makings = VmFactory(health_limits(settings))
        self._budget = MemoryBudget(settings.qemu_memory_limit_mib * MIB, free_memory)
        self._gateways = Gateways()
        self._lock, self._admitting = threading.Lock(), threading.Lock()
        self._supervisors: dict[SlotRef, SlotSupervisor] = {}
        self.slot_desktops: SlotDesktops[QemuDesktop] = SlotDesktops()
        self._trackers: dict[SlotRef, Tracker] = {}
        self._claims: list[_Claim] = []
        self._host: Host | None = None
        self._closed = False

    # ---- capabilities

    def availability(self) -> Availability:
        """Looks for QEMU and tests KVM, once if they work; reads the images each time."""
        try:
            host = self._known_host()
        except ClusterLost as error:
            return Availability(ok=False, reason=error.text)
        images = offers(self._images, self._templates, host, default=self._settings.default_image)
        if not any(not image.reason for image in images):
            problems = "; ".join(f"{image.name}: {image.reason}" for image in images)
            return Availability(ok=False, reason=problems or _NO_IMAGE, images=images)
        return Availability(
            ok=True,
            reason=host.speed,
            programs=tuple(sorted({program for image in images for program in image.programs})),
            need=largest(need_of(read_image(self._images / image.name)) for image in images if not image.reason),
            images=images,
        )

    def _known_host(self) -> Host:
        with self._lock:
            host = self._host
        if host is None:
            host = this_host(self._settings.accelerator)
            with self._lock:
                self._host = host
        return host

    # ---- desktops

    def open(self, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
        """A pristine machine: the prepared one of the slot if there is one, else a new one."""
        return self.slot_desktops.open(slot, spec, partial(self._make_in_room, slot, spec))

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """Starts creating the slot's next machine, if the number of prepared ones and the memory allow it."""
        try:
            order = self.order(spec)
        except ClusterLost:
            return  # It is unavailable; opening a desktop reports why.
        claim = self._claim(order.size)
        if claim is None:
            return
        make = partial(self._make, slot, order, claim)
        most = self._settings.qemu_warm_vms
        if not self.slot_desktops.prepare(slot, spec, make, seconds=BOOT_SECONDS * 2, most=most):
            with self._lock:
                self._claims.remove(claim)

    def unprepare(self, slot: SlotRef) -> None:
        """Destroys the slot's prepared machine, if any."""
        self.slot_desktops.unprepare(slot)

    def ready(self, slot: SlotRef) -> bool:
        """Whether the slot's next machine is ready."""
        spare = self.slot_desktops.spares.get(slot)
        return spare is not None and spare.is_ready()

    def template(self, spec: DesktopSpec) -> Template:
        """The template of such desktops, created if missing.

        Raises:
            ClusterLost, GuestLost: it cannot be created; the message says why.
        """
        bench = VmHost(self._supervisor(_TEMPLATES), self._stock, tracker=self.tracker(None))
        return self._makings.prepare(bench, self.order(spec))

    def tracker(self, slot: SlotRef | None) -> Tracker:
        with self._lock:
            return self._trackers.setdefault(slot or _TEMPLATES, Tracker())

    def close(self) -> None:
        """Destroys everything. Safe to call twice."""
        with self._lock:
            self._closed = True
            supervisors, self._supervisors = list(self._supervisors.values()), {}
        # Supervisors first: machines that are being created then fail at once.
        for supervisor in supervisors:
            supervisor.close()
        self.slot_desktops.close()
        self._gateways.close()

    # ---- creating machines

    def order(self, spec: DesktopSpec) -> VmRequest:
        try:
            folder, image = find_image(self._images, spec.image, default=self._settings.default_image)
        except DeskarenaError as error:
            raise ClusterLost(error.message, code="image_not_available", hint=error.hint) from error
        return VmRequest.for_image(folder, image, spec, self._known_host())

    def _claim(self, size: int) -> _Claim | None:
        """Reserves room for one more machine; None if there is none."""
        with self._admitting:
            if not self._budget.admits(size, self.memory_claims()):
                return None
            claim = _Claim(size)
            with self._lock:
                self._claims.append(claim)
            return claim

    def memory_claims(self) -> list[tuple[int, Callable[[], int]]]:
        """Of each machine, including those being created: maximum bytes, and a function that returns its usage."""
        with self._lock:
            self._claims = [claim for claim in self._claims if claim.holds()]
            return [(claim.size, claim.used) for claim in self._claims]

    def _make_in_room(self, slot: SlotRef, spec: DesktopSpec) -> QemuDesktop:
        """A new machine; machines prepared for other slots are discarded if needed.

        Raises:
            ClusterLost: There is no room for it.
        """
        order = self.order(spec)
        while (claim := self._claim(order.size)) is None:
            if not self.slot_desktops.discard_one():
                raise ClusterLost(
                    f"not enough memory for a machine of {order.size // MIB} MiB",
                    code="host_memory_full",
                    hint=_HINT,
                )
        return self._make(slot, order, claim)

    def _make(self, slot: SlotRef, order: VmRequest, claim: _Claim) -> QemuDesktop:
        """A new machine in its reserved room, which is released on failure."""
        try:
            machine = claim.machine = self._new(slot, order)
        except BaseException:
            with self._lock:
                self._claims.remove(claim)
            raise
        return machine

    def _new(self, slot: SlotRef, order: VmRequest) -> QemuDesktop:
        supervisor = self._supervisor(slot)
        vm = self._makings.make(VmHost(supervisor, self._stock, tracker=self.tracker(slot)), order)
        way_out = supervisor.folder / f"{vm.handle.name}.gateway"
        try:
            gateway = self._gateways.open(way_out)
        except OSError as error:
            vm.desktop.close()
            remove(supervisor, vm.handle)
            raise ClusterLost(
                f"the egress gateway of a machine cannot be opened: {error}", code="egress_failed", hint=_HINT
            ) from error
        lines = partial(self._gateways.lines, vm.address, vm.secret, way_out)
        return QemuDesktop(vm, gateway, lines)

    def _supervisor(self, slot: SlotRef) -> SlotSupervisor:
        """The slot's supervisor; a new one if it died."""
        with self._lock:
            if self._closed:
                raise ClusterLost("the worker is stopping", code="worker_stopping")
            supervisor = self._supervisors.get(slot)
            if supervisor is None or not supervisor.alive():
                if supervisor is not None:
                    supervisor.close()
                try:
                    self._overlays.mkdir(mode=0o700, parents=True, exist_ok=True)
                    supervisor = self._supervisors[slot] = SlotSupervisor(self._overlays)
                except (SupervisorError, OSError) as error:
                    raise ClusterLost(
                        f"virtual machines cannot be created here: {error}", code="desktop_not_created", hint=_HINT
                    ) from error
            return supervisor
