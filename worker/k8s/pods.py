"""Pods of slots: created, taken over, waited for, renewed, removed. Thread-safe; calls for one slot are sequential."""

import base64
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.domain.machines.slots import SlotRef
from worker.base.errors import CodedError
from worker.k8s import manifests
from worker.k8s.cluster import (
    PODS,
    SECRETS,
    Cluster,
    ClusterError,
    ClusterUnavailable,
    Object,
    ObjectConflict,
    ObjectNotFound,
)
from worker.k8s.manifests import ATTEMPTS, DEADLINE, DESKTOP, FENCE, KEY, MEMORY, SLOT, WORKER, PodResources
from worker.k8s.plan import PodPlan
from worker.k8s.pod_inventory import PodInventory, attempts_started, notes_of, number_of
from worker.k8s.pod_status import PATIENT, Cause, PodStatus
from worker.k8s.pod_watch import PodWatch
from worker.k8s.reflector import WATCH_SECONDS

GONE_SECONDS = 60.0
_ROUNDS = 6
SEE_SECONDS = 10.0
"""Seconds until the watch must have seen a new pod."""
SILENT_SECONDS = WATCH_SECONDS + 15.0
"""Seconds until a silently broken watch is noticed, and pods are listed again."""
PATIENCE_SECONDS = 5.0
"""Seconds for conditions that may pass quickly: a node that has just got room."""
logger = logging.getLogger(__name__)


class PodUnavailable(CodedError):
    """A slot's pod is not available; the message has the cluster's reason."""


class LaterLease(PodUnavailable):
    """Somebody holds the pod under a later lease: nothing is wrong with it."""

    code = "lease_superseded"


class _Foreign(Exception):  # noqa: N818 - whose it is.
    """A pod with our slot's name that is not ours."""

    def __init__(self, uid: str) -> None:
        super().__init__(uid)
        self.uid = uid


@dataclass(frozen=True)
class Pod:
    """A ready pod of ours.

    Attributes:
        fence: fencing token of the lease under which it was taken.
        memory_mib: maximum memory of a machine in it.
        token: shared secret of the pod and us.
        attempts: number of attempts in it before it was taken.
    """

    name: str
    uid: str
    node: str
    address: str
    fence: int
    token: str
    is_new: bool
    memory_mib: int = 0
    attempts: int = 0


class Pods(PodInventory):
    """All pods of this installation, as one worker creates and sees them."""

    def __init__(  # noqa: PLR0913 - what it works with
        self,
        cluster: Cluster,
        watch: PodWatch,
        plan: PodPlan,
        *,
        worker: str,
        start_seconds: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Does not connect yet.

        Args:
            cluster: cluster of the pods.
            watch: of our pods, started by its creator.
            plan: settings of all pods.
            worker: our name, for people who inspect a pod.
            start_seconds: time limit for a pod to become ready.
            now: seconds since 1970.
        """
        super().__init__(cluster, watch, plan, now)
        self._worker, self._start_seconds = worker, start_seconds
        self._ending = False

    def end(self) -> None:
        """Stops waiting for pods that start: those that we created and are not ready are removed."""
        self._ending = True

    def take(self, slot: SlotRef, room: PodResources, *, kvm: bool = True) -> Pod:
        """The slot's pod: the existing one if it is suitable and not held under a later lease, else a new one.

        Args:
            slot: the slot; its fencing token counts.
            room: required resources.
            kvm: False = small and without the device, to list images.

        Raises:
            PodUnavailable: It is not available. A pod that the cluster still tries to start is left until its deadline
                for the slot's next holder; any other is removed.
            ClusterError: The cluster refuses it.
        """
        name, is_new = manifests.pod_name(self.plan, slot), False
        for _ in range(_ROUNDS):
            try:
                pod = self._cluster.get(PODS, name)
            except ObjectNotFound:
                pod = None
            try:
                if pod is None:
                    pod, is_new = self.create(slot, room, kvm=kvm), True
                elif self._fits(pod, slot, room):
                    pod = self._adopt(pod, slot, room)
                else:
                    self._remove_version(pod)
                    continue
                token = self._token(pod)
            except (ObjectConflict, ObjectNotFound):
                continue  # Another worker was faster: retry.
            except _Foreign as error:
                self.remove(name, error.uid)
                continue
            except ClusterError:
                if is_new and pod is not None:
                    self._remove_quietly(name, pod["metadata"]["uid"])
                raise
            return self._wait(pod, slot, token, is_new=is_new)
        raise PodUnavailable(f"the pod {name} keeps changing: another worker uses the slot, too", code="pod_changing")

    def create(self, slot: SlotRef, room: PodResources, *, kvm: bool = True) -> Object:
        """A new pod of the slot, as the cluster has it; does not wait for it. Args: see `take`. Raises ClusterError."""
        deadline = self._started_and_idle()
        name = f"{manifests.pod_name(self.plan, slot)}-{secrets.token_hex(4)}"
        body = manifests.pod(self.plan, slot, room, secret=name, worker=self._worker, deadline=deadline, kvm=kvm)
        return self._cluster.create(PODS, body)

    def _started_and_idle(self) -> float:
        """The deadline of a pod that may still start; it is not renewed until it is ready."""
        return self.now() + self._start_seconds + self.plan.idle

    def _fits(self, pod: Object, slot: SlotRef, room: PodResources) -> bool:
        """Whether an existing pod is suitable for the slot. Raises PodUnavailable if a later lease holds it."""
        metadata = pod["metadata"]
        notes = notes_of(pod)
        self._check_fence(pod, slot.fence)
        status = self.watch.status(metadata["name"], metadata["uid"])
        return (
            notes.get(KEY) == manifests.spec_key(self.plan)
            and number_of(notes.get(MEMORY)) >= room.memory_mib
            and attempts_started(pod) < self.plan.attempts
            and not metadata.get("deletionTimestamp")
            and (pod.get("status") or {}).get("phase") in {"Pending", "Running"}
            and not status.leave
            and status.cause in {Cause.NONE, Cause.REPLACED, Cause.DELETED, *PATIENT}
        )

    @staticmethod
    def _check_fence(pod: Object, fence: int) -> None:
        if number_of(notes_of(pod).get(FENCE)) > fence:
            raise LaterLease(f"the pod {pod['metadata']['name']} is held under a later lease")

    def _adopt(self, pod: Object, slot: SlotRef, room: PodResources) -> Object:
        """Takes the pod: holders of earlier leases cannot take it any more. Raises ObjectConflict, ObjectNotFound."""
        deadline = manifests.moment(self._started_and_idle())
        notes = {DESKTOP: room.desktop, DEADLINE: deadline, ATTEMPTS: manifests.begins(slot, attempts_started(pod))}
        return self._note(pod, slot.fence, notes, labels={SLOT: manifests.slot_name(slot)})

    def _note(self, pod: Object, fence: int, notes: Mapping[str, str] | None = None, **more: Any) -> Object:
        """Writes our lease to a pod that has not changed since. Raises ObjectConflict, ObjectNotFound."""
        identity = {"uid": pod["metadata"]["uid"], "resourceVersion": pod["metadata"]["resourceVersion"]}
        changes = {"metadata": {**identity, **more, "annotations": {**self._notes(fence), **(notes or {})}}}
        return self._cluster.patch(PODS, pod["metadata"]["name"], changes)

    def _notes(self, fence: int) -> dict[str, str]:
        return {
            WORKER: self._worker,
            DEADLINE: manifests.moment(self.now() + self.plan.idle),
            FENCE: str(fence),
        }

    def _wait(self, pod: Object, slot: SlotRef, token: str, *, is_new: bool) -> Pod:
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        try:
            status = self._wait_ready(name, uid)
        except ClusterUnavailable:
            raise  # Nothing seems wrong with it: the slot's next holder may use it.
        except BaseException:
            if is_new and not self._left_to_the_cluster(name, uid):
                self.remove(name, uid, wait=False)
            raise
        if not status.ready:
            if status.cause not in PATIENT or (is_new and self._ending):
                self.remove(name, uid, wait=False)
            words = f"the pod was not ready within {self._start_seconds:g} s. {status.words}".strip()
            raise PodUnavailable(status.why or words, code="pod_not_ready")
        notes, starts = notes_of(pod), int(manifests.begins(slot))
        memory, attempts = number_of(notes.get(MEMORY)), number_of(notes.get(ATTEMPTS))
        return Pod(name, uid, status.node, status.address, slot.fence, token, is_new, memory, max(0, attempts - starts))

    def _left_to_the_cluster(self, name: str, uid: str) -> bool:
        return not self._ending and self.watch.status(name, uid).cause in PATIENT

    def _token(self, pod: Object) -> str:
        """The token from its Secret, which is created if the pod's creator did not.

        Raises:
            _Foreign: The Secret belongs to another pod: somebody recreated the pod, which has no known token.
        """
        name, uid = manifests.secret_of(pod), pod["metadata"]["uid"]
        for _ in range(2):
            try:
                secret = self._cluster.get(SECRETS, name)
                if uid not in {owner.get("uid") for owner in secret["metadata"].get("ownerReferences") or []}:
                    raise _Foreign(uid)
                return base64.b64decode(secret["data"][manifests.TOKEN]).decode()
            except ObjectNotFound:
                token = secrets.token_urlsafe(32)
            try:
                self._cluster.create(SECRETS, manifests.secret(self.plan, pod, name, token))
            except ObjectConflict:
                continue
            return token
        raise PodUnavailable(f"the Secret {name} of its pod keeps changing", code="pod_changing")

    def _wait_ready(self, name: str, uid: str) -> PodStatus:
        """Waits until it is ready or cannot become so; returns its state."""
        watch, bad_since = self.watch, 0.0
        self._wait_seen(name, uid)

        def decided() -> bool:
            nonlocal bad_since
            status = watch.status(name, uid)
            if self._ending or status.ready or (status.cause and status.cause not in PATIENT):
                return True
            bad = status.cause and not (self.plan.makes_claims and status.awaits_claims)
            bad_since = (bad_since or time.monotonic()) if bad else 0.0
            return bool(bad_since) and time.monotonic() - bad_since > PATIENCE_SECONDS

        watch.wait(decided, self._start_seconds)
        return watch.status(name, uid)

    def _wait_seen(self, name: str, uid: str) -> None:
        """Waits until the watch has reached it, or the pod is gone. Raises ClusterUnavailable if watching fails."""

        def is_seen() -> bool:
            pod = self.watch.pod(name)
            return self._ending or (pod is not None and pod["metadata"]["uid"] == uid)

        for seconds in (SEE_SECONDS, SILENT_SECONDS):
            if self.watch.wait(is_seen, seconds) or self._is_gone(name, uid):
                return
        trouble = self.watch.trouble or "no information about them"
        raise ClusterUnavailable(f"pods cannot be watched: {trouble}", reason="no_watch")

    def status(self, pod: Pod) -> PodStatus:
        """State of a pod. Does not query the cluster."""
        return self.watch.status(pod.name, pod.uid)

    def renew(self, pod: Pod, fence: int, notes: Mapping[str, str] | None = None) -> None:
        """Extends the deadline of a pod in use, as last seen by the watch, and writes annotations.

        Raises:
            PodUnavailable: Somebody holds it under a later lease; or it is another pod.
            ObjectConflict: It has changed since; it can be retried soon.
            ClusterError: The cluster refuses it.
        """
        self._note(self._ours(self.watch.pod(pod.name), pod, fence), fence, notes)

    def hold(self, pod: Pod, fence: int, notes: Mapping[str, str]) -> None:
        """Writes our lease and annotations to a pod of ours. Raises PodUnavailable, ClusterError."""
        for _ in range(_ROUNDS):
            try:
                self._note(self._ours(self._cluster.get(PODS, pod.name), pod, fence), fence, notes)
            except ObjectConflict:
                continue
            return
        raise PodUnavailable(f"the pod {pod.name} keeps changing", code="pod_changing")

    def _ours(self, current: Object | None, pod: Pod, fence: int) -> Object:
        if current is None or current["metadata"]["uid"] != pod.uid:
            raise PodUnavailable(f"the pod {pod.name} no longer exists", code="pod_gone")
        self._check_fence(current, fence)
        return current

    def discard(self, pod: Pod, fence: int, *, wait: bool = True) -> None:
        """Removes a pod that we held under that lease, unless somebody holds it under a later one.

        Raises:
            PodUnavailable: Somebody does; or it is not deleted.
            ClusterError: The cluster refuses it.
        """
        for _ in range(_ROUNDS):
            try:
                current = self._cluster.get(PODS, pod.name)
            except ObjectNotFound:
                return
            if current["metadata"]["uid"] != pod.uid:
                return
            self._check_fence(current, fence)
            try:
                self._remove_version(current, wait=wait)
            except ObjectConflict:
                continue  # It may have been taken over at this moment.
            return
        raise PodUnavailable(f"the pod {pod.name} keeps changing", code="pod_changing")

    def discard_quietly(self, pod: Pod, fence: int, *, wait: bool = True) -> bool:
        """Like `discard`; False if it fails, and the pod stays until its deadline."""
        try:
            self.discard(pod, fence, wait=wait)
        except (ClusterError, PodUnavailable) as error:
            logger.warning("pod %s left until its deadline: %s", pod.name, error)
            return False
        return True

    def clear(self, slot: SlotRef, fence: int) -> None:
        """Removes the pod of a slot that nobody uses, also one of another worker; not one that was taken since.

        Args:
            slot: the slot.
            fence: fencing token of the pod, read by `fences` before checking that nobody holds the slot.

        Raises:
            PodUnavailable: Somebody does; or it is not deleted.
            ClusterError: The cluster refuses it.
        """
        pod = self.watch.pod(manifests.pod_name(self.plan, slot))
        if pod is not None:
            metadata = pod["metadata"]
            self.discard(Pod(metadata["name"], metadata["uid"], "", "", fence, "", is_new=False), fence)

    def _remove_version(self, current: Object, *, wait: bool = True) -> None:
        """Removes it if it has not changed. Raises ObjectConflict, and like `remove`."""
        meta = current["metadata"]
        deleting = self._cluster.delete(PODS, meta["name"], uid=meta["uid"], version=meta["resourceVersion"])
        self._wait_gone(meta["name"], meta["uid"], wait=deleting and wait)

    def remove(self, name: str, uid: str, *, wait: bool = True) -> None:
        """Removes a pod, and returns when it is gone. No other pod of that name is touched.

        Raises:
            PodUnavailable: It is not deleted, as on a node that does not respond.
            ClusterError: The cluster refuses it.
        """
        try:
            deleting = self._cluster.delete(PODS, name, uid=uid)
        except ObjectConflict:
            return  # Another one has the name: ours is gone.
        self._wait_gone(name, uid, wait=deleting and wait)

    def wait_gone(self, pods: Iterable[Pod]) -> None:
        """Waits until deleted pods are gone, for all of them together."""
        remaining = list(pods)

        def none_left() -> bool:
            remaining[:] = [pod for pod in remaining if not self._is_gone(pod.name, pod.uid)]
            return not remaining

        if not self.watch.wait(none_left, GONE_SECONDS):
            logger.warning("%d pods are not deleted: %s", len(remaining), ", ".join(pod.name for pod in remaining))

    def _wait_gone(self, name: str, uid: str, *, wait: bool) -> None:
        if wait and not self.watch.wait(lambda: self._is_gone(name, uid), GONE_SECONDS):
            reason = self.watch.status(name, uid).why or self.watch.trouble
            raise PodUnavailable(f"the pod {name} is not deleted: {reason}", code="pod_not_deleted")

    def _is_gone(self, name: str, uid: str) -> bool:
        """404 or another uid; verified with the cluster once the watch says so, or fails."""
        pod = self.watch.pod(name)
        if pod is not None and pod["metadata"]["uid"] == uid and not self.watch.trouble:
            return False
        try:
            return bool(self._cluster.get(PODS, name)["metadata"]["uid"] != uid)
        except ObjectNotFound:
            return True
        except ClusterUnavailable:
            return False  # The deletion was requested, and may be reported in a moment.
