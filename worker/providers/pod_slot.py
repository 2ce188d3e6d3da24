"""A slot's pod in use: its supervisor, host facts, and the desktops created in it."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

from backend.domain.errors import ClusterLost
from backend.domain.ports.desktop import DesktopSpec
from worker.activity import Tracker
from worker.egress import Gateway, GuestTunnels
from worker.k8s.manifests import ATTEMPTS, DISTRUSTED, EMULATED, KEY, PORT
from worker.k8s.pod_status import PATIENT, PodStatus
from worker.k8s.pods import Pod
from worker.providers._pod_images import PodImage, read_images, select_image
from worker.providers._template_store import PodTemplateStore, VmHost
from worker.providers._vm_desktop import QemuDesktop
from worker.providers.vm_factory import StartedVm
from worker.providers.vm_order import VmRequest
from worker.qemu.client import SupervisorError
from worker.qemu.plan import Host
from worker.qemu.remote import RemoteSupervisor

_NEWS_SECONDS = 3.0
"""Seconds that the news of a pod's end may take after its supervisor stopped responding."""


@dataclass
class PodSlot:
    """State of a slot.

    Attributes:
        pod: pod with its machines.
        supervisor: of that pod.
        host: facts of the pod's node.
        images: of the pod's volume.
        fence: fencing token under which the supervisor was reached.
        attempts: number of attempts started in the pod by anybody.
        used: an attempt runs, or may start at any moment.
        warm: kept ready for an attempt although the slot is not leased.
        trusted: False = it is replaced before the next attempt.
        written_notes: the pod's annotations about this, as in `notes`.
        telling: lock for writing them.
        tracker: records current activities.
        emulated: why its machines are emulated although it has its device; empty = they are not, or it has none.
        renewed_at: on the monotonic clock.
    """

    pod: Pod
    supervisor: RemoteSupervisor
    host: Host
    images: tuple[PodImage, ...]
    fence: int
    renewed_at: float
    attempts: int = 0
    used: bool = True
    warm: bool = False
    trusted: bool = True
    written_notes: Mapping[str, str] = field(default_factory=dict)
    telling: Lock = field(default_factory=Lock, compare=False, repr=False)
    tracker: Tracker = field(default_factory=Tracker, compare=False, repr=False)
    emulated: str = ""

    def bench(self) -> VmHost:
        """Host of its machines."""
        return VmHost(self.supervisor, PodTemplateStore(self.supervisor), self.pod.uid, self.tracker)

    def order(self, spec: DesktopSpec, default: str) -> VmRequest:
        """Request for a machine in it. Raises ClusterLost if that is impossible."""
        choice = select_image(self.images, spec.image, default)
        if choice.image is None:
            raise ClusterLost(
                f"the image {choice.folder.name} cannot be used: {choice.reason}", code="image_not_available"
            )
        return VmRequest.for_image(choice.folder, choice.image, spec, self.host, built_in=choice.built_in)

    def serves(self, spec: DesktopSpec, default: str) -> bool:
        """Whether it has the requested image, and its pod enough memory for a machine of it."""
        try:
            image = select_image(self.images, spec.image, default).image
        except ClusterLost:
            return False
        return image is not None and image.memory_mib <= self.pod.memory_mib

    @property
    def renewed(self) -> bool:
        """Whether its pod is renewed regularly; one that we have lost is not."""
        return (self.used or self.warm) and self.supervisor.alive()

    def due(self, seconds: float) -> bool:
        """Whether its pod must be renewed, given the time since the last renewal."""
        return self.renewed and time.monotonic() - self.renewed_at > seconds

    def notes(self) -> dict[str, str]:
        """Annotations of its pod for the worker that takes it over and for people who inspect its node."""
        return {
            ATTEMPTS: str(self.attempts),
            **({} if self.trusted else {KEY: DISTRUSTED}),
            **({EMULATED: self.emulated} if self.emulated else {}),
        }

    @property
    def untold(self) -> bool:
        """Whether the pod's annotations lack something that we know."""
        unknown = bool(self.emulated) and EMULATED not in self.written_notes
        return unknown or (not (self.used and self.trusted) and self.written_notes != self.notes())

    def leave(self) -> None:
        """Closes the connection; no machine is left in the pod then. Safe to call twice."""
        self.supervisor.close()


def slot_of_pod(pod: Pod, now: float, accelerator: str) -> PodSlot:
    """The slot of that pod.

    Args:
        pod: a running pod.
        now: on the monotonic clock.
        accelerator: the setting.

    Raises:
        SupervisorError: its supervisor does not respond, or is another one.
    """
    supervisor = RemoteSupervisor((pod.address, PORT), pod.token, pod.fence)
    try:
        host, images = Host.from_json(supervisor.host(accelerator)), read_images(supervisor.images())
    except (TypeError, KeyError, AttributeError) as error:
        supervisor.close()
        raise SupervisorError(f"the pod's supervisor has another version: {error}", code="version_differs") from error
    except BaseException:
        supervisor.close()
        raise
    # The lease's first attempt is counted in advance: if we are killed during it, nobody else counts it.
    notes = {ATTEMPTS: str(pod.attempts + (pod.fence > 0))}
    return PodSlot(pod, supervisor, host, images, pod.fence, now, pod.attempts, written_notes=notes)


class PodDesktop(QemuDesktop):
    """A virtual machine in a pod."""

    def __init__(  # noqa: PLR0913, PLR0917 - what makes a desktop of a machine
        self,
        vm: StartedVm,
        slot: PodSlot,
        gateway: Gateway,
        lines: Callable[[], GuestTunnels],
        read_status: Callable[[], PodStatus],
    ) -> None:
        """Like QemuDesktop. Args: read_status: returns the state of its pod."""
        about: Mapping[str, Any] = {
            "provider": "k8s",
            "pod": slot.pod.name,
            "pod_uid": slot.pod.uid,
            "node": slot.pod.node,
            "attempts_in_pod": slot.attempts,
        }
        self._slot, self._read_status = slot, read_status
        self._why_taken, self._asking, self._ending = "", Lock(), Event()
        super().__init__(vm, gateway, lines, about)

    def revocation_reason(self) -> str:
        with self._asking:
            if not self._why_taken and not self._ending.is_set():
                self._why_taken = self._death_reason()
            return self._why_taken

    def _death_reason(self) -> str:
        handle = self.vm.handle
        if self._slot.supervisor.alive() and not handle.dead:
            # The guest does not respond: determine whether it is the guest, or everything between it and us.
            with suppress(SupervisorError):
                self._slot.supervisor.private_bytes(handle)
                return ""
        elif self._slot.supervisor.alive():
            return ""
        for _ in range(int(_NEWS_SECONDS * 10)):
            status = self._read_status()
            if status.cause and status.cause not in PATIENT:
                return status.why
            self._ending.wait(0.1)
        return handle.dead or "the pod's supervisor does not respond"

    def close(self) -> None:
        """Destroys it; see QemuDesktop."""
        self._ending.set()
        super().close()
