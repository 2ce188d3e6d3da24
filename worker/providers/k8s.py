"""The `k8s` provider: one pod of virtual machines per slot, one clone per attempt (docs/internals/kubernetes.md)."""

import logging
import os
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

from backend.config import Settings
from backend.domain.errors import ClusterLost, DeskarenaError, GuestLost
from backend.domain.machines.slots import DesktopNeeds, SlotRef, largest, need_of
from backend.domain.ports.cluster import SlotTrouble
from backend.domain.ports.desktop import Availability, DesktopSpec, OpenDesktop
from backend.domain.registry import PluginKind, register
from backend.services.periodic_thread import PeriodicThread
from worker.activity import Tracker
from worker.base.circuit_breaker import CircuitBreaker
from worker.base.health import health_limits
from worker.egress import Gateways
from worker.k8s import manifests
from worker.k8s.client import configured, connect
from worker.k8s.cluster import PODS, Cluster, ClusterError, ClusterUnavailable
from worker.k8s.draining_nodes import DrainingNodes
from worker.k8s.node_rules import emulated_words
from worker.k8s.plan import PodPlan
from worker.k8s.pod_requests import largest_need
from worker.k8s.pod_watch import PodWatch
from worker.k8s.pods import Pods
from worker.providers._pod_images import offers
from worker.providers._pod_prewarming import PodPrewarming
from worker.providers._slot_backoff import SlotBackoff
from worker.providers.image_probe_pod import ROOM, ImageProbe
from worker.providers.pod_slot import PodDesktop, PodSlot
from worker.providers.pod_slots import HINT, STOPPED, ClusterSilent, PodSlots, SlotTakenOver
from worker.providers.vm_factory import VmFactory, remove
from worker.providers.vm_order import VmRequest
from worker.qemu.client import SupervisorError

LOOK_SECONDS = 1.0
SWEEP_SECONDS = 15.0
_LISTED_SECONDS = 10.0
_MOST_NODES = 3
_NO_IMAGE_SET = "not configured: set DESKARENA_K8S_POD_IMAGE to the pods' container image (docs/deploy-kubernetes.md)"
_NO_CLUSTER = "no cluster is configured: set KUBECONFIG, or run the worker in the cluster"
logger = logging.getLogger(__name__)


@register(PluginKind.PROVIDER, "k8s")
class K8sProvider:
    """Creates virtual machines in pods of a cluster. Thread-safe.

    Attributes:
        slots: pods of its slots.
    """

    name = "k8s"

    def __init__(self, settings: Settings, *, cluster: Cluster | None = None) -> None:
        """Does not start yet. Args: cluster: replaces the configured one."""
        self._settings, self._cluster = settings, cluster
        self._makings = VmFactory(health_limits(settings))
        self._gateways = Gateways()
        self._lock, self._starting = threading.Lock(), threading.Lock()
        self._open: dict[SlotRef, PodDesktop] = {}
        self._rests, self._answers = (
            SlotBackoff(),
            CircuitBreaker("the cluster", self._try_one, ClusterUnavailable, (ClusterError,)),
        )
        self._scout = ImageProbe(self.pods)
        self.slots = PodSlots(settings, self._scout, self.pods)
        self._warmth = PodPrewarming(
            self.slots, self._makings, self.pods, self._rests, self._answers, settings.default_image
        )
        self._watch: PodWatch | None = None
        self._pods: Pods | None = None
        self._plan: PodPlan | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = threading.Event()
        self._swept_at = time.monotonic()
        self._minder = PeriodicThread(
            "pods", self._mind, every=LOOK_SECONDS, delayed=True, broken="maintenance of pods raised"
        )

    # ---- capabilities

    @property
    def cluster(self) -> str:
        """See `ClusterProvider`; namespace and owner distinguish installations in a cluster."""
        cluster = self._cluster
        return f"{cluster.namespace}/{self._settings.k8s_instance_label}" if cluster is not None else ""

    @property
    def desktops(self) -> int:
        return self._settings.k8s_max_desktops_per_worker

    def largest(self) -> DesktopNeeds | None:
        return largest_need(self._plan, (image.image for image in self._scout.images))

    def availability(self) -> Availability:
        """Whether the cluster is configured and allows pods, and which images it has."""
        if not self._settings.k8s_pod_image:
            return Availability(ok=False, reason=_NO_IMAGE_SET)
        if self._cluster is None and not configured(self._settings.kubeconfig):
            return Availability(ok=False, reason=_NO_CLUSTER)
        try:
            pods = self.pods()
            self._try_rights()
        except (ClusterError, ClusterLost) as error:
            return Availability(ok=False, reason=f"the cluster cannot be used: {error.message}")
        self._scout.beside()
        if not self._scout.images:
            return Availability(ok=False, reason=self._scout.why_none)
        return self._availability(pods)

    def emulated(self) -> Mapping[str, str]:
        """Nodes whose device boots no machine, as found by their pods -> why."""
        return self._pods.emulated() if self._pods is not None else {}

    def _availability(self, pods: Pods) -> Availability:
        images = self._scout.images
        image_offers, troubles, slow = offers(images, self._settings.default_image), pods.troubles(), pods.emulated()
        usable = [each.image for each in images if each.image is not None]
        if not usable:
            return Availability(ok=False, reason="; ".join(offer.reason for offer in image_offers), images=image_offers)
        return Availability(
            ok=True,
            reason=f"pods in the namespace {self._namespace()}"
            # Their slots are not leased; the others are.
            + (f"; {len(troubles)} cannot start: {next(iter(troubles.values()))}" if troubles else "")
            + "".join(f"; node {node}: {emulated_words(cause)}" for node, cause in sorted(slow.items())[:_MOST_NODES]),
            programs=tuple(sorted({program for image in usable for program in image.programs})),
            need=largest(need_of(image) for image in usable),
            images=image_offers,
        )

    def _namespace(self) -> str:
        return self._cluster.namespace if self._cluster is not None else ""

    def _try_rights(self) -> None:
        """Lets the cluster validate a pod of ours without creating it: rights, admission, quota.

        Raises ClusterError.
        """
        self._try_one()
        watch = self._watch
        if watch is not None and not watch.listed(_LISTED_SECONDS):
            raise ClusterLost(f"pods cannot be watched: {watch.trouble}", code="cluster_refused")

    def _try_one(self) -> None:
        plan, cluster = self._plan, self._cluster
        if plan is None or cluster is None:
            raise ClusterLost(STOPPED, code="worker_stopping")
        index = -secrets.randbelow(10**9) - 1
        cluster.create(PODS, manifests.trial(plan, ROOM, index, worker=_worker(), now=time.time()), dry_run=True)

    def away(self) -> str:
        # Without a watch nobody knows when pods are ready.
        return self._answers.why_not or (self._watch.trouble if self._watch is not None else "")

    def troubles(self) -> Mapping[str, SlotTrouble] | None:
        """See `ClusterProvider`: pods that do not start, and slots that pause after a failure."""
        if self._pods is None or self._watch is None or self._watch.trouble:
            return None
        return {
            **self._rests.resting(),
            **{slot: SlotTrouble(reason) for slot, reason in self._pods.troubles().items()},
        }

    # ---- desktops

    def open(self, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
        """A clone in the slot's pod, which is created if needed."""
        with self._lock:
            former = self._open.pop(slot, None)
        if former is not None:
            former.close()
        with self.slots.taking(slot):
            try:
                opened = self._open_desktop(slot, spec)
            except SlotTakenOver:
                raise
            except ClusterSilent as error:
                self._answers.failed(error.message)
                raise
            except ClusterLost as error:
                self._rests.failed(manifests.slot_name(slot), error.message)
                raise
            except GuestLost as error:
                # The guest's fault and its pod's cannot be distinguished, and each attempt would fail there within
                # seconds.
                self._rests.failed(manifests.slot_name(slot), error.message)
                self.distrust(slot)
                raise
        self._rests.worked(manifests.slot_name(slot))
        with self._lock:
            self._open[slot] = opened
        if self._closed.is_set():
            opened.close()
            raise ClusterLost(STOPPED, code="worker_stopping")
        return opened

    def _open_desktop(self, slot: SlotRef, spec: DesktopSpec) -> PodDesktop:
        pod_slot = self.slots.have(slot, spec)
        pod_slot.attempts += 1
        try:
            return self._new(pod_slot, pod_slot.order(spec, self._settings.default_image))
        except (GuestLost, ClusterLost, SupervisorError) as error:
            if pod_slot.supervisor.shown_out:
                raise SlotTakenOver(f"the slot's pod was taken over: {error}", hint=HINT) from error
            if isinstance(error, ClusterLost):
                raise
            status = self.pods().status(pod_slot.pod)
            if pod_slot.supervisor.alive() and isinstance(error, GuestLost):
                raise
            raise ClusterLost(f"the slot's pod was lost: {status.why or error}", code="pod_lost", hint=HINT) from error

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """Creates a pod with the template for a slot without one; otherwise the next clone takes a second.

        A clone itself is not prepared: it would need the pod's memory twice.
        """
        if not self._warmth.has(slot) and not self._closed.is_set():
            self._warmth.warm(slot, spec)

    def tracker(self, slot: SlotRef | None) -> Tracker | None:
        """See `ActivitySource`: nothing is known about a slot until its pod exists."""
        pod_slot = self.slots.get(slot) if slot is not None else None
        return pod_slot.tracker if pod_slot is not None else None

    def warmed(self) -> Mapping[str, str] | None:
        if self._pods is None or self.away():
            return None
        self._warmth.noted(self._pods.fences())
        return {**self._pods.desktops(), **self._warmth.making()}

    def warming(self) -> Collection[str]:
        return self._warmth.making()

    def keep(self, slots: Collection[SlotRef]) -> None:
        self.slots.keep(slots)

    def cool(self, slot: SlotRef) -> None:
        if not self._closed.is_set():
            self._warmth.cool(slot)

    def unprepare(self, slot: SlotRef) -> None:
        """Stops renewing the pod: the slot's next holder takes it over, or its deadline passes."""
        pod_slot = self.slots.get(slot)
        if pod_slot is not None:
            # The warm pool requests the pods to keep again in its next round.
            pod_slot.used = pod_slot.warm = False
            self._tell(pod_slot)

    def distrust(self, slot: SlotRef) -> None:
        pod_slot = self.slots.get(slot)
        if pod_slot is not None:
            pod_slot.trusted = False
            self._tell(pod_slot)

    def _tell(self, pod_slot: PodSlot) -> None:
        """At once, as others may lease the slot any moment; after an outage in a later round."""
        if self._pods is None or self.away():
            return
        try:
            self.slots.tell(self._pods, pod_slot)
        except ClusterUnavailable as error:
            self._answers.failed(error.message)

    def close(self) -> None:
        """Ends all machines and removes the pods that this worker has taken. Safe to call twice."""
        self._closed.set()
        if self._pods is not None:
            self._pods.end()
        with self._lock:
            opened, self._open = list(self._open.values()), {}
        slots = self.slots.close()
        for desktop in opened:
            desktop.close()
        for pod_slot in slots:
            pod_slot.leave()
        self._remove_all(slots)
        self._warmth.close()
        self._gateways.close()
        self._minder.stop(LOOK_SECONDS * 5)
        if self._watch is not None:
            self._watch.close()
        if self._folder is not None:
            self._folder.cleanup()
        if self._cluster is not None:
            self._cluster.close()

    def _remove_all(self, slots: list[PodSlot]) -> None:
        """All deletions are requested first, then waited for together."""
        pods = self._pods
        if pods is not None:
            pods.wait_gone(
                [pod_slot.pod for pod_slot in slots if pods.discard_quietly(pod_slot.pod, pod_slot.fence, wait=False)]
            )

    # ---- pods

    def _new(self, pod_slot: PodSlot, order: VmRequest) -> PodDesktop:
        vm = self._makings.make(pod_slot.bench(), order)
        way_out = self._own_folder() / f"{secrets.token_hex(6)}.gateway"
        try:
            gateway = self._gateways.open(way_out)
        except OSError as error:
            vm.desktop.close()
            remove(pod_slot.supervisor, vm.handle)
            raise ClusterLost(
                f"the egress gateway of a machine cannot be opened: {error}", code="egress_failed", hint=HINT
            ) from error
        lines = partial(self._gateways.lines, vm.address, vm.secret, way_out)
        return PodDesktop(vm, pod_slot, gateway, lines, partial(self.pods().status, pod_slot.pod))

    def _own_folder(self) -> Path:
        with self._starting:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp")  # noqa: S108 - a socket's path is short.
            return Path(self._folder.name)

    def pods(self) -> Pods:
        """The connected, watching inventory. Raises ClusterError; ClusterLost if a setting is invalid."""
        with self._starting:
            if self._closed.is_set():
                raise ClusterLost(STOPPED, code="worker_stopping")
            if self._pods is None:
                settings = self._settings
                try:
                    plan = self._plan = PodPlan.from_settings(settings)
                except DeskarenaError as error:
                    raise ClusterLost(error.message, code="desktop_not_created") from error
                cluster = self._cluster = self._cluster or connect(settings.kubeconfig, settings.k8s_namespace)
                # If slots have nodes, nothing starts on one that should be left.
                draining = None if settings.k8s_nodes else DrainingNodes(cluster)
                watch = self._watch = PodWatch(cluster, manifests.selector(plan), left=draining)
                watch.start()
                self._pods = Pods(cluster, watch, plan, worker=_worker(), start_seconds=settings.k8s_start_seconds)
                self._minder.start()
            return self._pods

    # ---- maintenance

    def _mind(self) -> None:
        """Renews pods in use, gives up lost ones, and removes unused ones."""
        pods = self._pods
        if pods is None or self._closed.is_set():
            return
        self._answers.look()
        self.slots.look(pods)
        for pod_slot in self.slots.all().values():
            self._tell(pod_slot)
        # While the cluster fails, they would only be forgotten.
        for slot in () if self.away() else self.slots.leaving(pods):
            self.cool(slot)
        if time.monotonic() - self._swept_at > SWEEP_SECONDS:
            self._swept_at = time.monotonic()
            pods.sweep(self.slots.in_use())


def _worker() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"
