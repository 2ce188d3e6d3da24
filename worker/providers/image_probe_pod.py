"""Determines which machine images a cluster's volumes contain: a small pod is created, queried and removed."""

import logging
import secrets
import threading
import time
from collections.abc import Callable

from backend.domain.errors import ClusterLost
from backend.domain.machines.slots import SlotRef
from worker.k8s.cluster import ClusterError
from worker.k8s.manifests import PodResources
from worker.k8s.plan import Volume
from worker.k8s.pods import Pods, PodUnavailable
from worker.providers._pod_images import KnownImages, PodImage
from worker.providers.pod_slot import PodSlot, slot_of_pod
from worker.qemu.client import SupervisorError
from worker.qemu.machine import TCG

ROOM = PodResources(64, 0.05)
AGAIN_SECONDS, FRESH_SECONDS, FRESH_CLONE_SECONDS = 60.0, 600.0, 3600.0
"""Seconds until the next probe: if no images were found, and to find new ones; each probe takes a clone."""
_NODES_TRIED = 3
"""Maximum nodes per probe, if nodes have their own images, until one responds."""
_LOOKING = "a pod is reading the images of the cluster's volume"
_NO_NODE = "none of the nodes with slots (DESKARENA_K8S_NODES) is ready to list its images"
logger = logging.getLogger(__name__)


class ImageProbe:
    """Knows the images after its first probe. Thread-safe.

    If each node has its own volume, each probe uses another node, the least recently known first. An image of any node
    counts; slots' pods report which node has it.
    """

    def __init__(self, pods: Callable[[], Pods]) -> None:
        """Does not probe yet. Args: pods: creates the inventory; may raise ClusterError or ClusterLost."""
        self._pods = pods
        # Without a slot: its pod belongs to this worker, and is reused if it did not start the last time.
        self._index = -secrets.randbelow(10**9) - 1
        self._looking, self._again_at, self._fresh_seconds = threading.Lock(), 0.0, FRESH_SECONDS
        self._looks = 0
        self._error: Exception | None = None
        self._images = KnownImages()
        self._asked_at: dict[str, float] = {}
        self.why_none = _LOOKING

    @property
    def images(self) -> tuple[PodImage, ...]:
        return self._images.on_node()

    def note_images(self, volume: Volume, pod_slot: PodSlot, *, new: bool = False) -> None:
        """Records the images of a slot's pod.

        Args:
            volume: of images, by the plan.
            pod_slot: has the pod.
            new: whether it was just created. An older clone has the claim's content of its time.
        """
        if pod_slot.images and (new or volume.kind != "clone"):
            node = pod_slot.pod.node if volume.by_node else ""
            self._asked_at[node] = time.monotonic()
            self._images.note(node, pod_slot.images)

    def beside(self) -> None:
        """Probes in the background, one at a time, if the last probe is old enough.

        Somebody may have added an image to the volume. Known images stay until a probe succeeds.
        """
        if time.monotonic() >= self._again_at and self._looking.acquire(blocking=False):
            self._again_at = time.monotonic() + (self._fresh_seconds if self.images else AGAIN_SECONDS)
            threading.Thread(target=self._refresh, name="scout", daemon=True).start()

    def known(self, node: str = "") -> tuple[PodImage, ...]:
        """The images, after a probe if needed. Raises ClusterError, ClusterLost, PodUnavailable, SupervisorError.

        All waiters get the result of the same probe: a failing one may take as long as a pod's start.

        Args:
            node: preferred for an image that several nodes have.
        """
        before = self._looks
        if not self.images:
            with self._looking:
                if self._looks == before:
                    if not self.images:
                        self._probe()
                elif self._error is not None and not self.images:
                    raise self._error
        return self._images.on_node(node)

    def _refresh(self) -> None:
        try:
            self._again_at = time.monotonic() + self._probe()
            self.why_none = "the volume of images is empty"
        except (ClusterError, ClusterLost, PodUnavailable, SupervisorError) as error:
            self.why_none = f"the images cannot be read: {error}"
            logger.warning("%s", self.why_none)
        except Exception as error:
            self.why_none = f"the images cannot be read: {type(error).__name__}: {error}"
            logger.exception("probing images raised")
        finally:
            self._looking.release()

    def _probe(self) -> float:
        """Probes and records the result; returns the seconds until the next probe. The caller holds the lock."""
        self._error = None
        try:
            return self._read()
        except Exception as error:
            self._error = error
            raise
        finally:
            self._looks += 1

    def _read(self) -> float:
        pods = self._pods()
        if pods.plan.images.kind == "clone":
            self._fresh_seconds = FRESH_CLONE_SECONDS
        nodes = pods.places()
        if not nodes:
            raise PodUnavailable(_NO_NODE, code="no_node")
        self._images.keep(nodes)
        self._asked_at = {node: at for node, at in list(self._asked_at.items()) if node in nodes}
        self._read_one(pods, sorted(nodes, key=lambda node: (self._asked_at.get(node, 0.0), node))[:_NODES_TRIED])
        heard_of_all = all(node in self._asked_at for node in nodes)
        return self._fresh_seconds if self.images and heard_of_all else AGAIN_SECONDS

    def _read_one(self, pods: Pods, nodes: list[str]) -> None:
        """Images of the first node that responds. Raises the last error."""
        for node in nodes:
            self._asked_at[node] = time.monotonic()
            try:
                self._images.note(node, self._read_at(pods, node))
            except (PodUnavailable, SupervisorError) as error:
                if node == nodes[-1]:
                    raise
                logger.warning("images of %s cannot be read: %s", node, error)
                continue
            return

    def _read_at(self, pods: Pods, node: str) -> tuple[PodImage, ...]:
        pod = pods.take(SlotRef(self._index, node, id="images"), ROOM, kvm=False)
        try:
            slot = slot_of_pod(pod, time.monotonic(), TCG)  # It has no device, and runs no machine.
            slot.leave()
            return slot.images
        finally:
            # The result counts; the next probe reuses the pod.
            pods.discard_quietly(pod, pod.fence)
