"""The `k8s` provider: virtual machines in pods, one pod a slot, each attempt a clone in it. See docs/kubernetes.md."""

import logging
import os
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from backend.config import Settings
from backend.domain.errors import ClusterLost, DeskarenaError, GuestLost, Lost
from backend.domain.ports import Availability, DesktopSpec, OpenDesktop
from backend.domain.ports_cluster import Trouble
from backend.domain.registry import Kind, register
from backend.domain.slots import Need, SlotRef, largest, need_of
from worker.egress import Gateways
from worker.health import health_limits
from worker.k8s import manifests
from worker.k8s.cluster import PODS, Cluster, ClusterError, Conflict
from worker.k8s.manifests import Room
from worker.k8s.need import largest_need
from worker.k8s.official import configured, connect
from worker.k8s.plan import PodPlan
from worker.k8s.pod_watch import PodWatch
from worker.k8s.pods import Pod, Pods, PodTrouble
from worker.k8s.states import PATIENT
from worker.providers._makings import Makings, Order, remove
from worker.providers._pod_images import chosen, offers
from worker.providers._pod_slot import PodDesktop, PodSlot, reached
from worker.providers._rests import Rests
from worker.providers._scout import ROOM, Scout
from worker.qemu.client import SupervisorError
from worker.qemu.remote import ShownOut

LOOK_SECONDS = 1.0
SWEEP_SECONDS = 15.0
_LISTED_SECONDS = 10.0
_NO_SECRET = "none"  # noqa: S105 - a Secret's name.
_HINT = "docs/kubernetes.md says what the cluster must give; the workers page, what is wrong with each slot."
_NO_IMAGE_SET = "not set up: DESKARENA_K8S_IMAGE names the container image of the pods (docs/kubernetes.md)"
_NO_CLUSTER = "no cluster is named: set KUBECONFIG, or run the worker in the cluster"
logger = logging.getLogger(__name__)


@register(Kind.PROVIDER, "k8s")
class K8sProvider:
    """Makes virtual machines in pods of a cluster. Calls may come from several threads."""

    name = "k8s"

    def __init__(self, settings: Settings, *, cluster: Cluster | None = None) -> None:
        """Starts nothing yet. Args: cluster: instead of the settings' one."""
        self._settings, self._cluster = settings, cluster
        self._makings = Makings(health_limits(settings))
        self._gateways = Gateways()
        self._lock, self._starting = threading.Lock(), threading.Lock()
        self._taking: dict[SlotRef, threading.Lock] = {}
        self._slots: dict[SlotRef, PodSlot] = {}
        self._open: dict[SlotRef, PodDesktop] = {}
        self._rests = Rests()
        self._scout = Scout(self._running)
        self._watch: PodWatch | None = None
        self._pods: Pods | None = None
        self._plan: PodPlan | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = threading.Event()
        self._minder = threading.Thread(target=self._mind, name="pods", daemon=True)

    # ---- what can run there

    @property
    def cluster(self) -> str:
        """See `InCluster`; namespace and owner make two installations of a cluster two."""
        cluster = self._cluster
        return f"{cluster.namespace}/{self._settings.k8s_owner}" if cluster is not None else ""

    @property
    def desktops(self) -> int:
        """See `InCluster`."""
        return self._settings.k8s_desktops

    def largest(self) -> Need | None:
        """See `largest_need`."""
        return largest_need(self._plan, (each.image for each in self._scout.images))

    def availability(self) -> Availability:
        """Whether the cluster is set up and lets us make pods; which images it has."""
        if not self._settings.k8s_image:
            return Availability(ok=False, reason=_NO_IMAGE_SET)
        if self._cluster is None and not configured(self._settings.kubeconfig):
            return Availability(ok=False, reason=_NO_CLUSTER)
        try:
            pods = self._running()
            self._try_rights()
        except (ClusterError, ClusterLost) as error:
            return Availability(ok=False, reason=f"the cluster cannot be used: {error.message}")
        if not self._scout.images:
            self._scout.beside()
            return Availability(ok=False, reason=self._scout.why_none)
        return self._offered(pods)

    def _offered(self, pods: Pods) -> Availability:
        images = self._scout.images
        found, troubles = offers(images, self._settings.image), pods.troubles()
        usable = [each.image for each in images if each.image is not None]
        if not usable:
            return Availability(ok=False, reason="; ".join(each.reason for each in found), images=found)
        return Availability(
            ok=True,
            reason=f"pods in the namespace {self._namespace()}"
            # Their slots are not leased; the others are.
            + (f"; {len(troubles)} cannot start: {next(iter(troubles.values()))}" if troubles else ""),
            programs=tuple(sorted({program for image in usable for program in image.programs})),
            need=largest(need_of(image) for image in usable),
            images=found,
        )

    def _namespace(self) -> str:
        return self._cluster.namespace if self._cluster is not None else ""

    def _try_rights(self) -> None:
        """Has the cluster check a pod of ours without making it: rights, admission, quota. Raises ClusterError."""
        plan, cluster, watch = self._plan, self._cluster, self._watch
        if plan is None or cluster is None or watch is None:
            raise ClusterLost("the worker is being stopped")
        name = SlotRef(-secrets.randbelow(10**9) - 1)
        body = manifests.pod(plan, name, ROOM, secret=_NO_SECRET, worker=_worker(), deadline=time.time())
        cluster.create(PODS, body, dry_run=True)
        if not watch.listed(_LISTED_SECONDS):
            raise ClusterLost(f"pods cannot be watched: {watch.trouble}")

    def troubles(self) -> Mapping[str, Trouble] | None:
        """See `InCluster`: pods that do not start, and slots that rest after their pod could not be had."""
        if self._pods is None or self._watch is None or self._watch.trouble:
            return None
        return {**self._rests.resting(), **{slot: Trouble(why) for slot, why in self._pods.troubles().items()}}

    # ---- desktops

    def open(self, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
        """A clone in the slot's pod, which is made if need be."""
        with self._lock:
            former = self._open.pop(slot, None)
            taking = self._taking.setdefault(slot, threading.Lock())
        if former is not None:
            former.close()
        with taking:
            try:
                opened = self._opened(slot, spec)
            except ClusterLost as error:
                self._rests.failed(manifests.slot_name(slot), error.message)
                raise
        self._rests.worked(manifests.slot_name(slot))
        with self._lock:
            self._open[slot] = opened
        if self._closed.is_set():
            opened.close()
            raise ClusterLost("the worker is being stopped")
        return opened

    def _opened(self, slot: SlotRef, spec: DesktopSpec) -> PodDesktop:
        try:
            held = self._slot(slot, spec)
        except PodTrouble as error:
            raise ClusterLost(f"the slot has no pod: {error}", hint=_HINT) from error
        except ClusterError as error:
            raise ClusterLost(f"the cluster does not do it: {error.message}", hint=_HINT) from error
        except SupervisorError as error:
            raise ClusterLost(f"the slot's pod cannot be used: {error}", hint=_HINT) from error
        held.attempts += 1
        try:
            return self._new(held, held.order(spec, self._settings.image))
        except (GuestLost, SupervisorError) as error:
            seen = self._running().seen(held.pod)
            if held.supervisor.alive() and isinstance(error, GuestLost):
                raise
            raise ClusterLost(f"the slot's pod was lost: {seen.why or error}", hint=_HINT) from error

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """Has a slot without a pod get one, with its template; where it has one the next clone takes a second.

        A clone itself is not made ahead: it would need the pod's memory twice.
        """
        with self._lock:
            known = self._slots.get(slot)
        if known is None and not self._closed.is_set():
            threading.Thread(target=self._warm, args=(slot, spec), name=f"warm {slot}", daemon=True).start()

    def _warm(self, slot: SlotRef, spec: DesktopSpec) -> None:
        with self._lock:
            taking = self._taking.setdefault(slot, threading.Lock())
        try:
            with taking:
                held = self._slot(slot, spec)
                self._makings.prepare(held.bench(), held.order(spec, self._settings.image))
        except (Lost, ClusterError, PodTrouble, SupervisorError) as error:
            # The pod's own trouble is told by `troubles`; one that somebody holds needs no warming.
            logger.warning("the slot %s was not warmed: %s", slot, error)

    def cool(self, slot: SlotRef) -> None:
        """Removes the pod of a slot in which nothing runs, in the background."""
        threading.Thread(target=self._cool, args=(slot,), name=f"cool {slot}", daemon=True).start()

    def _cool(self, slot: SlotRef) -> None:
        with self._lock:
            taking = self._taking.setdefault(slot, threading.Lock())
        with taking:
            with self._lock:
                held, opened = self._slots.get(slot), self._open.get(slot)
            if held is None or (opened is not None and opened.alive()):
                return
            try:
                self._give_up(slot, held)
            except (ClusterError, ClusterLost, PodTrouble) as error:
                logger.warning("the pod %s is left to its deadline: %s", held.pod.name, error)

    def unprepare(self, slot: SlotRef) -> None:
        """The pod is renewed no more: whoever has the slot next takes it over, or its deadline passes."""
        with self._lock:
            held = self._slots.get(slot)
        if held is not None:
            held.used = False

    def distrust(self, slot: SlotRef) -> None:
        """See `Distrusts`."""
        with self._lock:
            held = self._slots.get(slot)
        if held is not None:
            held.trusted = False

    def close(self) -> None:
        """Ends all machines and removes the pods that this worker has taken. Safe to call twice."""
        self._closed.set()
        with self._lock:
            opened, self._open = list(self._open.values()), {}
            slots, self._slots = list(self._slots.values()), {}
        for each in opened:
            each.close()
        for held in slots:
            held.leave()
        self._remove_all(slots)
        self._gateways.close()
        if self._minder.ident is not None:
            self._minder.join(LOOK_SECONDS * 5)
        if self._watch is not None:
            self._watch.close()
        if self._folder is not None:
            self._folder.cleanup()
        if self._cluster is not None:
            self._cluster.close()

    def _remove_all(self, slots: list[PodSlot]) -> None:
        """All are asked first, then waited for."""
        if self._pods is None:
            return
        for wait in (False, True):
            for held in slots:
                self._pods.discard_quietly(held.pod, held.fence, wait=wait)

    # ---- their pods

    def _slot(self, slot: SlotRef, spec: DesktopSpec) -> PodSlot:
        """What the slot has; another pod where that is of no use.

        Raises:
            PodTrouble, ClusterError, SupervisorError: it cannot be had.
        """
        pods, now = self._running(), time.monotonic()
        with self._lock:
            held = self._slots.get(slot)
        if held is not None and self._is_good(held, spec):
            if slot.fence > held.fence:
                # Whoever had the slot in between must not come back into it.
                pods.hold(held.pod, slot.fence)
                held.leave()
                held = self._reached(pods, slot, replace(held.pod, fence=slot.fence), held.attempts)
            held.used = True
            return held
        # Before the pod is given up: for an image that is nowhere, none of another image needs to go.
        found = chosen(self._scout.known(), spec.image, self._settings.image)
        if held is not None:
            self._give_up(slot, held)
        if found.image is None:
            raise PodTrouble(found.reason)
        need = need_of(found.image)
        held = self._reached(pods, slot, pods.take(slot, Room(found.image.memory_mib, need.cores)), 0)
        held.renewed_at = now
        self._scout.images = held.images or self._scout.images
        return held

    def _reached(self, pods: Pods, slot: SlotRef, pod: Pod, attempts: int) -> PodSlot:
        try:
            held = reached(pod, time.monotonic())
        except ShownOut:
            raise
        except SupervisorError:
            # Left there, it would be taken over by each lease in turn, in vain.
            pods.discard_quietly(pod, pod.fence, wait=False)
            raise
        held.attempts = attempts
        with self._lock:
            self._slots[slot] = held
        return held

    def _is_good(self, held: PodSlot, spec: DesktopSpec) -> bool:
        """Whether the slot's next desktop may be made in the pod that it has."""
        return (
            held.trusted
            and held.attempts < self._settings.k8s_attempts
            and held.supervisor.alive()
            and not self._running().seen(held.pod).why
            and held.serves(spec, self._settings.image)
        )

    def _give_up(self, slot: SlotRef, held: PodSlot) -> None:
        """The slot gets another pod; nothing of this one is left then."""
        with self._lock:
            self._slots.pop(slot, None)
        held.leave()
        self._running().discard(held.pod, max(held.fence, slot.fence))

    def _new(self, held: PodSlot, order: Order) -> PodDesktop:
        made = self._makings.make(held.bench(), order)
        way_out = self._own_folder() / f"{secrets.token_hex(6)}.gateway"
        try:
            gateway = self._gateways.open(way_out)
        except OSError as error:
            made.desktop.close()
            remove(held.supervisor, made.held)
            raise ClusterLost(f"a machine could not be given its way out: {error}", hint=_HINT) from error
        lines = partial(self._gateways.lines, made.address, made.secret, way_out)
        return PodDesktop(made, order, held, gateway, lines, partial(self._running().seen, held.pod))

    def _own_folder(self) -> Path:
        with self._starting:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp")  # noqa: S108 - a socket's path is short.
            return Path(self._folder.name)

    def _running(self) -> Pods:
        """Connected and watching. Raises ClusterError; ClusterLost where a setting is wrong."""
        with self._starting:
            if self._closed.is_set():
                raise ClusterLost("the worker is being stopped")
            if self._pods is None:
                settings = self._settings
                try:
                    plan = self._plan = PodPlan.of(settings)
                except DeskarenaError as error:
                    raise ClusterLost(error.message) from error
                cluster = self._cluster = self._cluster or connect(settings.kubeconfig, settings.k8s_namespace)
                watch = self._watch = PodWatch(cluster, manifests.selector(plan))
                watch.start()
                self._pods = Pods(cluster, watch, plan, worker=_worker(), start_seconds=settings.k8s_start_seconds)
                self._minder.start()
            return self._pods

    # ---- looking after them

    def _mind(self) -> None:
        """Renews pods that are used, gives up those that are lost, and removes those that nobody uses any more."""
        swept_at = time.monotonic()
        while not self._closed.wait(LOOK_SECONDS):
            try:
                pods = self._pods
                if pods is None:
                    continue
                with self._lock:
                    slots = list(self._slots.values())
                for held in slots:
                    self._look_at(pods, held)
                if time.monotonic() - swept_at > SWEEP_SECONDS:
                    swept_at = time.monotonic()
                    pods.sweep()
            except Exception:
                logger.exception("looking after pods failed")

    def _look_at(self, pods: Pods, held: PodSlot) -> None:
        seen = pods.seen(held.pod)
        if seen.cause and seen.cause not in PATIENT:
            held.supervisor.lose(seen.why)
        elif held.due(self._settings.k8s_idle_seconds / 4):
            try:
                pods.renew(held.pod, held.fence)
            except Conflict:
                return  # It has just changed: looked at again with the next look.
            except (ClusterError, PodTrouble) as error:
                logger.warning("the pod %s could not be renewed: %s", held.pod.name, error)
            held.renewed_at = time.monotonic()


def _worker() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"
