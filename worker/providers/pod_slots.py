"""Slots whose pods a worker has: taken, reused, given up, renewed."""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from threading import Lock

from backend.config import Settings
from backend.domain.errors import ClusterLost
from backend.domain.machines.slots import SlotRef, need_of
from backend.domain.ports.desktop import DesktopSpec
from worker.k8s.cluster import ClusterError, ClusterUnavailable, ObjectConflict
from worker.k8s.manifests import ATTEMPTS, DESKTOP, PodResources, begins
from worker.k8s.pod_status import PATIENT
from worker.k8s.pods import LaterLease, Pod, Pods, PodUnavailable
from worker.k8s.warm_plan import kind_of
from worker.providers._pod_images import read_images, select_image
from worker.providers.image_probe_pod import ImageProbe
from worker.providers.pod_slot import PodSlot, slot_of_pod
from worker.qemu.client import SupervisorError
from worker.qemu.remote import LeaseSuperseded

HINT = "See docs/deploy-kubernetes.md for requirements, and the workers page for the state of each slot."
AGAIN_SECONDS = 2.0
"""Seconds until renewing is retried after the cluster failed."""
STOPPED = "the worker is stopping"
logger = logging.getLogger(__name__)


class SlotTakenOver(ClusterLost):
    """Somebody holds the slot under a later lease: nothing is wrong with it, but it is no longer ours."""

    code = "slot_taken_over"


class ClusterSilent(ClusterLost):
    """The cluster's API failed temporarily: nothing is wrong with the slot."""

    code = "cluster_unavailable"


class PodSlots:
    """Slots of one worker. Thread-safe; taking or giving up a slot requires its lock, `taking`."""

    def __init__(self, settings: Settings, scout: ImageProbe, pods: Callable[[], Pods]) -> None:
        """Args: pods: creates the inventory; may raise ClusterError or ClusterLost."""
        self._settings, self._scout, self._pods = settings, scout, pods
        self._lock, self._closed = Lock(), False
        self._taking: dict[SlotRef, Lock] = {}
        self._slots: dict[SlotRef, PodSlot] = {}
        self._renew_at = 0.0

    def taking(self, slot: SlotRef) -> Lock:
        """Lock of a slot."""
        with self._lock:
            return self._taking.setdefault(slot, Lock())

    def get(self, slot: SlotRef) -> PodSlot | None:
        """State of a slot; None = unknown."""
        with self._lock:
            return self._slots.get(slot)

    def all(self) -> dict[SlotRef, PodSlot]:
        """All slots with a state."""
        with self._lock:
            return dict(self._slots)

    def close(self) -> list[PodSlot]:
        """No slot is taken afterwards. Returns the states. Safe to call twice."""
        with self._lock:
            self._closed = True
            pod_slots, self._slots = list(self._slots.values()), {}
        return pod_slots

    # ---- one slot

    def have(self, slot: SlotRef, spec: DesktopSpec) -> PodSlot:
        """The slot's state, with a new pod if the old one is unusable.

        Raises:
            SlotTakenOver: Somebody else has it now.
            ClusterSilent: None is available now.
            ClusterLost: it is not available; the message says why.
        """
        try:
            pod_slot = self._had(slot, spec)
        except (LaterLease, LeaseSuperseded) as error:
            raise SlotTakenOver(f"the slot has no pod: {error}", hint=HINT) from error
        except PodUnavailable as error:
            raise ClusterLost(f"the slot has no pod: {error}", code="pod_not_ready", hint=HINT) from error
        except ClusterUnavailable as error:
            raise ClusterSilent(f"the cluster failed: {error.message}", hint=HINT) from error
        except ClusterError as error:
            raise ClusterLost(f"the cluster failed: {error.message}", code="cluster_refused", hint=HINT) from error
        except SupervisorError as error:
            raise ClusterLost(f"the slot's pod cannot be used: {error}", code="pod_lost", hint=HINT) from error
        pod_slot.used = True
        return pod_slot

    def _had(self, slot: SlotRef, spec: DesktopSpec) -> PodSlot:
        pods, now, pod_slot = self._pods(), time.monotonic(), self.get(slot)
        if pod_slot is not None and self.is_good(pod_slot, spec):
            if slot.fence > pod_slot.fence:
                # A holder in between must not come back into it.
                pods.hold(pod_slot.pod, slot.fence, {DESKTOP: kind_of(spec), ATTEMPTS: begins(slot, pod_slot.attempts)})
                pod_slot.leave()
                pod_slot = self._reach_slot(
                    pods, slot, replace(pod_slot.pod, fence=slot.fence, attempts=pod_slot.attempts)
                )
            else:
                # A lease may last for hours, and an image be rebuilt meanwhile: no clone may start on the new disk with
                # the old one's memory.
                pod_slot.images = read_images(pod_slot.supervisor.images())
            self._scout.note_images(pods.plan.images, pod_slot)
            if self.is_good(pod_slot, spec):
                return pod_slot
        # Before the pod is given up: if no image exists, no pod needs to be removed for it.
        choice = select_image(self._scout.known(slot.node), spec.image, self._settings.default_image)
        if pod_slot is not None:
            self._let_go(slot, pod_slot)
        if choice.image is None:
            raise PodUnavailable(choice.reason, code="image_not_found")
        room = PodResources(choice.image.memory_mib, need_of(choice.image).cores, kind_of(spec))
        pod_slot = self._reach_slot(pods, slot, pods.take(slot, room))
        pod_slot.renewed_at = now
        self._scout.note_images(pods.plan.images, pod_slot, new=pod_slot.pod.is_new)
        return pod_slot

    def is_good(self, pod_slot: PodSlot, spec: DesktopSpec) -> bool:
        """Whether the slot's next desktop can be created in its pod."""
        status = self._pods().status(pod_slot.pod)
        return (
            pod_slot.trusted
            and pod_slot.attempts < self._settings.k8s_max_attempts_per_pod
            and pod_slot.supervisor.alive()
            and not (status.why or status.leave)
            and pod_slot.serves(spec, self._settings.default_image)
        )

    def _reach_slot(self, pods: Pods, slot: SlotRef, pod: Pod) -> PodSlot:
        try:
            pod_slot = slot_of_pod(pod, time.monotonic(), self._settings.accelerator)
        except LeaseSuperseded:
            raise
        except SupervisorError:
            # Otherwise each lease in turn would take it over in vain.
            pods.discard_quietly(pod, pod.fence, wait=False)
            raise
        pod_slot.emulated = pod_slot.host.why_emulated if pods.plan.kvm else ""
        with self._lock:
            if not self._closed:
                self._slots[slot] = pod_slot
                return pod_slot
        # What is being created while the worker stops is closed with all others.
        pod_slot.leave()
        pods.discard_quietly(pod, pod.fence, wait=False)
        raise ClusterLost(STOPPED, code="worker_stopping")

    def _let_go(self, slot: SlotRef, pod_slot: PodSlot) -> None:
        """Releases an unusable pod. One that was taken over is only left: nothing is wrong with it."""
        if pod_slot.supervisor.shown_out:
            self.forget(slot, pod_slot)
        else:
            self.give_up(slot, pod_slot)

    def forget(self, slot: SlotRef, pod_slot: PodSlot) -> None:
        """The pod belongs to somebody else."""
        with self._lock:
            if self._slots.get(slot) is pod_slot:
                del self._slots[slot]
        pod_slot.leave()

    @staticmethod
    def tell(pods: Pods, pod_slot: PodSlot) -> None:
        """Writes annotations to a pod that its next worker must know, if they are missing.

        Raises:
            ClusterUnavailable: The cluster failed temporarily.
        """
        with pod_slot.telling:
            if not pod_slot.untold:
                return
            notes = pod_slot.notes()
            try:
                pods.hold(pod_slot.pod, pod_slot.fence, notes)
            except ClusterUnavailable:
                raise
            except (ClusterError, PodUnavailable) as error:
                logger.info("pod %s not annotated: %s", pod_slot.pod.name, error)
            pod_slot.written_notes = notes

    def give_up(self, slot: SlotRef, pod_slot: PodSlot) -> None:
        """Removes the slot's pod, so that it gets another. Raises PodUnavailable, ClusterError, ClusterLost."""
        self.forget(slot, pod_slot)
        pods = self._pods()
        if leave := pods.status(pod_slot.pod).leave:
            logger.info("pod %s leaves its node %s: %s", pod_slot.pod.name, pod_slot.pod.node, leave)
        pods.discard(pod_slot.pod, max(pod_slot.fence, slot.fence))

    # ---- all slots

    def look(self, pods: Pods) -> None:
        """Renews pods in use, and records the state of the others."""
        for slot, pod_slot in self.all().items():
            self._look_at(pods, slot, pod_slot)

    def _look_at(self, pods: Pods, slot: SlotRef, pod_slot: PodSlot) -> None:
        status = pods.status(pod_slot.pod)
        if pod_slot.supervisor.shown_out:
            self.forget(slot, pod_slot)
        elif status.cause and status.cause not in PATIENT:
            pod_slot.supervisor.lose(status.why)
        elif time.monotonic() >= self._renew_at and pod_slot.due(self._settings.k8s_idle_seconds / 4):
            self._renew(pods, pod_slot)

    def _renew(self, pods: Pods, pod_slot: PodSlot) -> None:
        notes = pod_slot.notes()
        try:
            pods.renew(pod_slot.pod, pod_slot.fence, notes)
            pod_slot.written_notes = notes
        except ObjectConflict:
            return  # It has just changed: looked at again with the next look.
        except ClusterUnavailable as error:
            # Soon after the cluster responds again, before others consider the pod unused.
            if not self._renew_at:
                logger.warning("pods cannot be renewed: %s", error.message)
            self._renew_at = time.monotonic() + AGAIN_SECONDS
            return
        except (ClusterError, PodUnavailable) as error:
            logger.warning("pod %s not renewed: %s", pod_slot.pod.name, error)
        self._renew_at, pod_slot.renewed_at = 0.0, time.monotonic()

    def leaving(self, pods: Pods) -> list[SlotRef]:
        """Slots with an idle pod that should leave its node."""
        return [slot for slot, pod_slot in self.all().items() if not pod_slot.used and pods.status(pod_slot.pod).leave]

    def in_use(self) -> set[str]:
        """Uids of pods in which an attempt runs or may start, or which are kept ready."""
        return {pod_slot.pod.uid for pod_slot in self.all().values() if pod_slot.renewed}

    def keep(self, warm_slots: Collection[SlotRef]) -> None:
        """Renews pods of these slots although no attempt uses them, and no other idle ones."""
        for slot, pod_slot in self.all().items():
            pod_slot.warm = slot in warm_slots
