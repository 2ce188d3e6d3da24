"""Pods that are created before their slot is leased, and removed while it is not: each in its own thread."""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock, Thread

from backend.domain.errors import ClusterLost, MachineLost
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from worker.base.circuit_breaker import CircuitBreaker
from worker.k8s import manifests
from worker.k8s.cluster import ClusterError
from worker.k8s.pods import Pods, PodUnavailable
from worker.k8s.warm_plan import kind_of
from worker.providers._slot_backoff import SlotBackoff
from worker.providers.pod_slots import HINT, ClusterSilent, PodSlots, SlotTakenOver
from worker.providers.vm_factory import VmFactory
from worker.qemu.client import SupervisorError

END_SECONDS = 5.0
logger = logging.getLogger(__name__)


class PodPrewarming:
    """Pre-warming for one worker's slots. Thread-safe.

    Args:
        slots: of the worker.
        makings: creates templates.
        pods: creates the inventory; may raise ClusterError or ClusterLost.
        rests: notified of slots whose pod is not available.
        answers: notified when the cluster fails.
        image: default image in the settings.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it works with
        self,
        slots: PodSlots,
        makings: VmFactory,
        pods: Callable[[], Pods],
        rests: SlotBackoff,
        answers: CircuitBreaker,
        image: str,
    ) -> None:
        self._slots, self._makings, self._pods = slots, makings, pods
        self._rests, self._answers, self._image = rests, answers, image
        self._lock = Lock()
        self._making: dict[SlotRef, tuple[str, Thread]] = {}
        self._cooling: set[SlotRef] = set()
        self._fences: Mapping[str, int] = {}

    def has(self, slot: SlotRef) -> bool:
        """Whether it has a pod that is known to be usable; one that has ended is not."""
        pod_slot = self._slots.get(slot)
        return pod_slot is not None and pod_slot.supervisor.alive()

    def making(self) -> Mapping[str, str]:
        """Kinds of desktop by label of the slot whose pod is being created."""
        with self._lock:
            return {manifests.slot_name(slot): kind for slot, (kind, _) in self._making.items()}

    def noted(self, fences: Mapping[str, int]) -> None:
        """Records under which leases pods were held, by slot label, before slots' holders are queried."""
        with self._lock:
            self._fences = fences

    def warm(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """Creates its pod and template, unless that is in progress, or its pod is being removed. Returns at once."""
        with self._lock:
            if slot not in self._making and slot not in self._cooling:
                thread = Thread(target=self._warm, args=(slot, spec), name=f"warm {slot}", daemon=True)
                thread.start()
                self._making[slot] = kind_of(spec), thread

    def cool(self, slot: SlotRef) -> None:
        """Removes its pod, unless that is in progress, or the slot is leased. Returns at once."""
        with self._lock:
            if slot not in self._cooling:
                fence = self._fences.get(manifests.slot_name(slot), 0)
                Thread(target=self._cool, args=(slot, fence), name=f"cool {slot}", daemon=True).start()
                self._cooling.add(slot)

    def close(self) -> None:
        """Waits shortly for pods that are being created; they notice the end themselves."""
        with self._lock:
            threads = [thread for _, thread in self._making.values()]
        deadline = time.monotonic() + END_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _warm(self, slot: SlotRef, spec: DesktopSpec) -> None:
        name = manifests.slot_name(slot)
        try:
            with self._slots.taking(slot):
                if not self.has(slot):
                    self._prepare(slot, spec)
                    self._rests.worked(name)
        except SlotTakenOver as error:
            logger.info("slot %s not warmed, it is leased: %s", slot, error.message)
        except ClusterSilent as error:
            self._answers.failed(error.message)
        except ClusterLost as error:
            self._rests.failed(name, error.message)
            logger.warning("slot %s not warmed: %s", slot, error.message)
        except (MachineLost, ClusterError, SupervisorError) as error:
            logger.warning("slot %s not warmed: %s", slot, error)
        finally:
            with self._lock:
                del self._making[slot]

    def _prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        pod_slot = self._slots.have(slot, spec)
        pod_slot.used, pod_slot.warm = False, True
        try:
            self._makings.prepare(pod_slot.bench(), pod_slot.order(spec, self._image))
        except ClusterLost as error:
            if pod_slot.supervisor.shown_out:
                raise SlotTakenOver(f"the slot's pod was taken over: {error}", hint=HINT) from error
            raise
        finally:
            # Only pods requested by the warm pool are kept: a lease's pod belongs to its next attempt, or to nobody
            # after its end.
            if slot.fence:
                pod_slot.warm = False

    def _cool(self, slot: SlotRef, fence: int) -> None:
        try:
            with self._slots.taking(slot):
                pod_slot = self._slots.get(slot)
                # Between two attempts, and while one starts, nothing runs in it although it is leased.
                if pod_slot is not None and not pod_slot.used:
                    self._slots.give_up(slot, pod_slot)
                elif pod_slot is None:
                    self._pods().clear(slot, fence)
        except (ClusterError, ClusterLost, PodUnavailable) as error:
            logger.warning("pod of the slot %s left until its deadline: %s", slot, error)
        finally:
            with self._lock:
                self._cooling.remove(slot)
