"""All pods of an installation in a cluster, from all workers: problems and left-overs."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from worker.k8s import manifests
from worker.k8s.cluster import PODS, Cluster, ClusterError, Object, ObjectConflict
from worker.k8s.manifests import ATTEMPTS, DEADLINE, DESKTOP, EMULATED, FENCE, SLOT
from worker.k8s.plan import PodPlan
from worker.k8s.pod_status import PATIENT, pod_status
from worker.k8s.pod_watch import PodWatch
from worker.k8s.probe_placement import places

logger = logging.getLogger(__name__)


class PodInventory:
    """The pods as one worker sees them. Thread-safe.

    Attributes:
        plan: settings of all pods.
        watch: of the pods.
        now: seconds since 1970.
    """

    def __init__(self, cluster: Cluster, watch: PodWatch, plan: PodPlan, now: Callable[[], float]) -> None:
        """Does not connect yet. See `Pods`."""
        self._cluster, self.watch, self.plan, self.now = cluster, watch, plan, now
        self._unchanged: dict[str, tuple[str, float]] = {}

    def places(self) -> Sequence[str]:
        """See `places`: where a pod that only lists images may run. Raises ClusterError."""
        return places(self._cluster, self.plan)

    def sweep(self, spared: Collection[str] = ()) -> list[str]:
        """Removes pods whose deadline has passed without a renewal. Returns their names.

        A wrong clock removes nothing: the deadline must also have been unchanged for half of its time. Outages do not
        count, since nobody can renew anything while the cluster does not respond.

        Args:
            spared: uids of pods to keep.
        """
        swept, known = [], {}
        trouble, well = self.watch.trouble, self.watch.well
        for pod in self.watch.pods():
            metadata = pod["metadata"]
            text = str(notes_of(pod).get(DEADLINE) or "")
            before = self._unchanged.get(metadata["uid"])
            since = before[1] if before is not None and before[0] == text else well
            known[metadata["uid"]] = text, since
            if (
                trouble
                or metadata["uid"] in spared
                or metadata.get("deletionTimestamp")
                or well - since < self.plan.idle / 2
            ):
                continue
            deadline = manifests.seconds_of(text)
            past = deadline is None or deadline < self.now()
            # This very version: it may be taken over at this moment.
            if past and self._remove_quietly(metadata["name"], metadata["uid"], metadata["resourceVersion"]):
                logger.warning("pod %s: deadline passed, removing it", metadata["name"])
                swept.append(metadata["name"])
            elif past:
                del known[metadata["uid"]]  # Where this cannot be done now, others cannot renew either.
        self._unchanged = known
        return swept

    def _remove_quietly(self, name: str, uid: str, version: str = "") -> bool:
        """Requests a pod's deletion. Whether it existed and the cluster accepted."""
        try:
            return self._cluster.delete(PODS, name, uid=uid, version=version)
        except ObjectConflict:
            return False  # Another one has the name, or it has just changed.
        except ClusterError as error:
            logger.warning("pod %s not removed: %s", name, error.message)
            return False

    def desktops(self) -> Mapping[str, str]:
        """Slots with a pod, ready or starting, by label -> the kind of desktop that it was last used for."""
        pods = [pod for pod in self.watch.pods() if not _ends(pod)]
        return {label_of(pod): str(notes_of(pod).get(DESKTOP) or "?") for pod in pods}

    def fences(self) -> Mapping[str, int]:
        """Fencing tokens under which pods are held, by their slot's label."""
        return {label_of(pod): number_of(notes_of(pod).get(FENCE)) for pod in self.watch.pods()}

    def emulated(self) -> Mapping[str, str]:
        """Nodes on which a pod has its device but emulates its machines, by name -> why."""
        return emulated(self.watch.pods())

    def troubles(self) -> Mapping[str, str]:
        """Slots whose pod cannot start, by label -> why. Does not query the cluster."""
        troubles: dict[str, str] = {}
        for pod in self.watch.pods():
            metadata = pod["metadata"]
            status = self.watch.status(metadata["name"], metadata["uid"])
            if status.cause in PATIENT and not metadata.get("deletionTimestamp"):
                troubles[label_of(pod)] = status.why
        return troubles


def emulated(pods: Iterable[Object]) -> dict[str, str]:
    """See `PodInventory.emulated`, of these pods."""
    pairs = [(str((pod.get("spec") or {}).get("nodeName") or ""), notes_of(pod).get(EMULATED)) for pod in pods]
    return {node: str(reason) for node, reason in pairs if node and reason}


def _ends(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return bool(pod["metadata"].get("deletionTimestamp")) or phase in {"Failed", "Succeeded"}


def notes_of(pod: Object) -> Mapping[str, Any]:
    """Annotations of a pod."""
    notes: Mapping[str, Any] = pod["metadata"].get("annotations") or {}
    return notes


def number_of(text: object) -> int:
    """A number in an annotation; 0 if there is none."""
    try:
        return int(str(text))
    except ValueError:
        return 0


def label_of(pod: Object) -> str:
    """The slot in its label."""
    return str((pod["metadata"].get("labels") or {}).get(SLOT) or pod["metadata"]["name"])


def attempts_started(pod: Object) -> int:
    """Attempts that have started in a pod; not counting that of the last lease if it is not ready."""
    attempts = number_of(notes_of(pod).get(ATTEMPTS))
    return attempts if pod_status(pod, (), uid=pod["metadata"]["uid"]).ready else max(0, attempts - 1)
