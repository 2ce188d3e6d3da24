"""The slots whose pods a worker has: taken, used again, given up, renewed."""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from threading import Lock

from backend.config import Settings
from backend.domain.errors import ClusterLost
from backend.domain.machines.slots import SlotRef, need_of
from backend.domain.ports.desktop import DesktopSpec
from worker.k8s.cluster import ClusterError, Conflict, Unavailable
from worker.k8s.manifests import ATTEMPTS, DESKTOP, Room, begins
from worker.k8s.pod_status import PATIENT
from worker.k8s.pods import HeldLater, Pod, Pods, PodTrouble
from worker.k8s.warm_plan import kind_of
from worker.providers._image_probe_pod import Scout
from worker.providers._pod_images import chosen, read_images
from worker.providers._pod_slot import PodSlot, reached
from worker.qemu.client import SupervisorError
from worker.qemu.remote import ShownOut

HINT = "docs/deploy-kubernetes.md says what the cluster must give; the workers page, what is wrong with each slot."
AGAIN_SECONDS = 2.0
"""Until pods are renewed again where the cluster did not do it."""
STOPPED = "the worker is being stopped"
logger = logging.getLogger(__name__)


class TakenOver(ClusterLost):
    """Somebody holds the slot under a later lease: nothing is wrong with it, it is only not ours any more."""


class Unanswered(ClusterLost):
    """The cluster's API did not do it, and may do it later: nothing is wrong with the slot."""


class PodSlots:
    """Of one worker. Safe for threads; whoever takes a slot or gives it up holds its lock, `taking`."""

    def __init__(self, settings: Settings, scout: Scout, pods: Callable[[], Pods]) -> None:
        """Args: pods: makes it; may raise ClusterError or ClusterLost."""
        self._settings, self._scout, self._pods = settings, scout, pods
        self._lock, self._closed = Lock(), False
        self._taking: dict[SlotRef, Lock] = {}
        self._slots: dict[SlotRef, PodSlot] = {}
        self._renew_at = 0.0

    def taking(self, slot: SlotRef) -> Lock:
        """The lock of one."""
        with self._lock:
            return self._taking.setdefault(slot, Lock())

    def get(self, slot: SlotRef) -> PodSlot | None:
        """What it has; None = nothing that we know of."""
        with self._lock:
            return self._slots.get(slot)

    def all(self) -> dict[SlotRef, PodSlot]:
        """Those that have something."""
        with self._lock:
            return dict(self._slots)

    def close(self) -> list[PodSlot]:
        """None is taken from now on. Returns what there was. Safe to call twice."""
        with self._lock:
            self._closed = True
            found, self._slots = list(self._slots.values()), {}
        return found

    # ---- one

    def have(self, slot: SlotRef, spec: DesktopSpec) -> PodSlot:
        """What the slot has; another pod where that is of no use.

        Raises:
            TakenOver: somebody else has it by now.
            Unanswered: none can be had now.
            ClusterLost: it cannot be had; says why.
        """
        try:
            held = self._had(slot, spec)
        except (HeldLater, ShownOut) as error:
            raise TakenOver(f"the slot has no pod: {error}", hint=HINT) from error
        except PodTrouble as error:
            raise ClusterLost(f"the slot has no pod: {error}", hint=HINT) from error
        except Unavailable as error:
            raise Unanswered(f"the cluster does not do it: {error.message}", hint=HINT) from error
        except ClusterError as error:
            raise ClusterLost(f"the cluster does not do it: {error.message}", hint=HINT) from error
        except SupervisorError as error:
            raise ClusterLost(f"the slot's pod cannot be used: {error}", hint=HINT) from error
        held.used = True
        return held

    def _had(self, slot: SlotRef, spec: DesktopSpec) -> PodSlot:
        pods, now, held = self._pods(), time.monotonic(), self.get(slot)
        if held is not None and self.is_good(held, spec):
            if slot.fence > held.fence:
                # Whoever had the slot in between must not come back into it.
                pods.hold(held.pod, slot.fence, {DESKTOP: kind_of(spec), ATTEMPTS: begins(slot, held.attempts)})
                held.leave()
                held = self._reached(pods, slot, replace(held.pod, fence=slot.fence, attempts=held.attempts))
            else:
                # A lease may go on for hours, and an image be built anew meanwhile: no clone may begin on its new disk
                # with what the old one had in memory.
                held.images = read_images(held.supervisor.images())
            self._scout.heard(pods.plan.images, held)
            if self.is_good(held, spec):
                return held
        # Before the pod is given up: for an image that is nowhere, none of another image needs to go.
        found = chosen(self._scout.known(slot.node), spec.image, self._settings.image)
        if held is not None:
            self._let_go(slot, held)
        if found.image is None:
            raise PodTrouble(found.reason)
        room = Room(found.image.memory_mib, need_of(found.image).cores, kind_of(spec))
        held = self._reached(pods, slot, pods.take(slot, room))
        held.renewed_at = now
        self._scout.heard(pods.plan.images, held, new=held.pod.made)
        return held

    def is_good(self, held: PodSlot, spec: DesktopSpec) -> bool:
        """Whether the slot's next desktop may be made in the pod that it has."""
        seen = self._pods().seen(held.pod)
        return (
            held.trusted
            and held.attempts < self._settings.k8s_attempts
            and held.supervisor.alive()
            and not (seen.why or seen.leave)
            and held.serves(spec, self._settings.image)
        )

    def _reached(self, pods: Pods, slot: SlotRef, pod: Pod) -> PodSlot:
        try:
            held = reached(pod, time.monotonic(), self._settings.accelerator)
        except ShownOut:
            raise
        except SupervisorError:
            # Left there, it would be taken over by each lease in turn, in vain.
            pods.discard_quietly(pod, pod.fence, wait=False)
            raise
        held.emulated = held.host.why_emulated if pods.plan.kvm else ""
        with self._lock:
            if not self._closed:
                self._slots[slot] = held
                return held
        # What is being made while the worker stops goes with all the others.
        held.leave()
        pods.discard_quietly(pod, pod.fence, wait=False)
        raise ClusterLost(STOPPED)

    def _let_go(self, slot: SlotRef, held: PodSlot) -> None:
        """Of what cannot be used. Out of what was taken over we only go: there is nothing wrong with its pod."""
        if held.supervisor.shown_out:
            self.forget(slot, held)
        else:
            self.give_up(slot, held)

    def forget(self, slot: SlotRef, held: PodSlot) -> None:
        """The pod is somebody else's."""
        with self._lock:
            if self._slots.get(slot) is held:
                del self._slots[slot]
        held.leave()

    @staticmethod
    def tell(pods: Pods, held: PodSlot) -> None:
        """Writes on a pod what whoever takes it over must know, where it does not say so yet.

        Raises:
            Unavailable: the cluster does not do it now.
        """
        with held.telling:
            if not held.untold:
                return
            notes = held.notes()
            try:
                pods.hold(held.pod, held.fence, notes)
            except Unavailable:
                raise
            except (ClusterError, PodTrouble) as error:
                logger.info("nothing more is said on the pod %s: %s", held.pod.name, error)
            held.told = notes

    def give_up(self, slot: SlotRef, held: PodSlot) -> None:
        """The slot gets another pod; nothing of this one is left then. Raises PodTrouble, ClusterError, ClusterLost."""
        self.forget(slot, held)
        pods = self._pods()
        if leave := pods.seen(held.pod).leave:
            logger.info("the pod %s leaves its node %s: %s", held.pod.name, held.pod.node, leave)
        pods.discard(held.pod, max(held.fence, slot.fence))

    # ---- all

    def look(self, pods: Pods) -> None:
        """Renews pods that are used, and notes what has become of the others."""
        for slot, held in self.all().items():
            self._look_at(pods, slot, held)

    def _look_at(self, pods: Pods, slot: SlotRef, held: PodSlot) -> None:
        seen = pods.seen(held.pod)
        if held.supervisor.shown_out:
            self.forget(slot, held)
        elif seen.cause and seen.cause not in PATIENT:
            held.supervisor.lose(seen.why)
        elif time.monotonic() >= self._renew_at and held.due(self._settings.k8s_idle_seconds / 4):
            self._renew(pods, held)

    def _renew(self, pods: Pods, held: PodSlot) -> None:
        notes = held.notes()
        try:
            pods.renew(held.pod, held.fence, notes)
            held.told = notes
        except Conflict:
            return  # It has just changed: looked at again with the next look.
        except Unavailable as error:
            # Soon after the cluster answers again, before others take the pod for one that nobody uses.
            if not self._renew_at:
                logger.warning("pods cannot be renewed: %s", error.message)
            self._renew_at = time.monotonic() + AGAIN_SECONDS
            return
        except (ClusterError, PodTrouble) as error:
            logger.warning("the pod %s could not be renewed: %s", held.pod.name, error)
        self._renew_at, held.renewed_at = 0.0, time.monotonic()

    def leaving(self, pods: Pods) -> list[SlotRef]:
        """Those whose pod nobody uses, and is to leave its node."""
        return [slot for slot, held in self.all().items() if not held.used and pods.seen(held.pod).leave]

    def in_use(self) -> set[str]:
        """Uids of the pods in which an attempt runs, may begin at any moment, or which are kept ready."""
        return {held.pod.uid for held in self.all().values() if held.renewed}

    def keep(self, kept: Collection[SlotRef]) -> None:
        """Pods of these slots are renewed although no attempt uses them; those of others are not."""
        for slot, held in self.all().items():
            held.warm = slot in kept
