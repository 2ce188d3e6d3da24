"""Which machine images a cluster's volumes hold: a small pod is made, asked, and removed."""

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
from worker.providers.pod_slot import PodSlot, reached
from worker.qemu.client import SupervisorError
from worker.qemu.machine import TCG

ROOM = PodResources(64, 0.05)
_AGAIN_SECONDS, _FRESH_SECONDS, _FRESH_CLONE_SECONDS = 60.0, 600.0, 3600.0
"""Until it looks again: where it has found none, and for others than those that it knows; each look takes a clone."""
_NODES_TRIED = 3
"""In one look, of those that have images of their own, until one of them answers."""
_LOOKING = "the images of the cluster's volume are being looked at, in a pod that is made for it"
_NO_NODE = "none of the nodes whose slots are used (DESKARENA_K8S_NODES) is ready to be asked for its images"
logger = logging.getLogger(__name__)


class ImageProbe:
    """Knows the images once it has looked. Safe for threads.

    Where each node has a volume of its own each look is at another node, those first that nothing was heard of for
    longest. What any node has, is there: which of them has it, the slots' pods tell.
    """

    def __init__(self, pods: Callable[[], Pods]) -> None:
        """Looks at nothing yet. Args: pods: makes it; may raise ClusterError or ClusterLost."""
        self._pods = pods
        # No slot's: its pod is this worker's own, and the same again where it did not start the last time.
        self._index = -secrets.randbelow(10**9) - 1
        self._looking, self._again_at, self._fresh_seconds = threading.Lock(), 0.0, _FRESH_SECONDS
        self._looks = 0
        self._error: Exception | None = None
        self._images = KnownImages()
        self._asked_at: dict[str, float] = {}
        self.why_none = _LOOKING

    @property
    def images(self) -> tuple[PodImage, ...]:
        """All that are known."""
        return self._images.of()

    def heard(self, volume: Volume, pod_slot: PodSlot, *, new: bool = False) -> None:
        """Takes note of what a slot's pod has.

        Args:
            volume: of images, by the plan.
            pod_slot: has the pod.
            new: it was just made. A clone that was there before is as its claim was then.
        """
        if pod_slot.images and (new or volume.kind != "clone"):
            node = pod_slot.pod.node if volume.by_node else ""
            self._asked_at[node] = time.monotonic()
            self._images.note(node, pod_slot.images)

    def beside(self) -> None:
        """Looks in the background, one look at a time, if the last one is long enough ago.

        Somebody may have put another image onto the volume. What is known stays while that is looked at, and where it
        could not be.
        """
        if time.monotonic() >= self._again_at and self._looking.acquire(blocking=False):
            self._again_at = time.monotonic() + (self._fresh_seconds if self.images else _AGAIN_SECONDS)
            threading.Thread(target=self._refresh, name="scout", daemon=True).start()

    def known(self, node: str = "") -> tuple[PodImage, ...]:
        """The images, looked at if need be. Raises ClusterError, ClusterLost, PodUnavailable, SupervisorError.

        What a look has come to, all hear who waited for it: one that fails may take as long as a pod may start.

        Args:
            node: whose counts for an image that several have.
        """
        before = self._looks
        if not self.images:
            with self._looking:
                if self._looks == before:
                    if not self.images:
                        self._looked()
                elif self._error is not None and not self.images:
                    raise self._error
        return self._images.of(node)

    def _refresh(self) -> None:
        try:
            self._again_at = time.monotonic() + self._looked()
            self.why_none = "the volume of images holds none"
        except (ClusterError, ClusterLost, PodUnavailable, SupervisorError) as error:
            self.why_none = f"the images cannot be looked at: {error}"
            logger.warning("%s", self.why_none)
        except Exception as error:
            self.why_none = f"the images cannot be looked at: {type(error).__name__}: {error}"
            logger.exception("looking at images broke")
        finally:
            self._looking.release()

    def _looked(self) -> float:
        """Looks, and notes what came of it; seconds until the next look. Whoever calls it holds the lock."""
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
            self._fresh_seconds = _FRESH_CLONE_SECONDS
        nodes = pods.places()
        if not nodes:
            raise PodUnavailable(_NO_NODE)
        self._images.keep(nodes)
        self._asked_at = {node: at for node, at in list(self._asked_at.items()) if node in nodes}
        self._read_one(pods, sorted(nodes, key=lambda node: (self._asked_at.get(node, 0.0), node))[:_NODES_TRIED])
        heard_of_all = all(node in self._asked_at for node in nodes)
        return self._fresh_seconds if self.images and heard_of_all else _AGAIN_SECONDS

    def _read_one(self, pods: Pods, nodes: list[str]) -> None:
        """Of the first that answers. Raises what was wrong with the last."""
        for node in nodes:
            self._asked_at[node] = time.monotonic()
            try:
                self._images.note(node, self._read_at(pods, node))
            except (PodUnavailable, SupervisorError) as error:
                if node == nodes[-1]:
                    raise
                logger.warning("the images of %s cannot be looked at: %s", node, error)
                continue
            return

    def _read_at(self, pods: Pods, node: str) -> tuple[PodImage, ...]:
        pod = pods.take(SlotRef(self._index, node, id="images"), ROOM, kvm=False)
        try:
            slot = reached(pod, time.monotonic(), TCG)  # It has no device, and runs no machine.
            slot.leave()
            return slot.images
        finally:
            # What was read counts; the pod is taken again by the next look.
            pods.discard_quietly(pod, pod.fence)
