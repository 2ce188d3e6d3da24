"""Which machine images a cluster's volume holds: a small pod is made, asked, and removed."""

import logging
import secrets
import threading
import time
from collections.abc import Callable

from backend.domain.errors import ClusterLost
from backend.domain.slots import SlotRef
from worker.k8s.cluster import ClusterError
from worker.k8s.manifests import Room
from worker.k8s.pods import Pods, PodTrouble
from worker.providers._pod_images import PodImage
from worker.providers._pod_slot import reached
from worker.qemu.client import SupervisorError

ROOM = Room(64, 0.05)
_AGAIN_SECONDS, _FRESH_SECONDS = 60.0, 600.0
"""Until it looks again: where it has found none, and for others than those that it knows."""
_LOOKING = "the images of the cluster's volume are being looked at, in a pod that is made for it"
logger = logging.getLogger(__name__)


class Scout:
    """Knows the images once it has looked. Safe for threads."""

    def __init__(self, pods: Callable[[], Pods]) -> None:
        """Looks at nothing yet. Args: pods: makes it; may raise ClusterError or ClusterLost."""
        self._pods = pods
        # No slot's: its pod is this worker's own, and the same again where it did not start the last time.
        self._slot = SlotRef(-secrets.randbelow(10**9) - 1, id="images")
        self._looking, self._again_at = threading.Lock(), 0.0
        self._looks = 0
        self._error: Exception | None = None
        self.images: tuple[PodImage, ...] = ()
        self.why_none = _LOOKING

    def beside(self) -> None:
        """Looks in the background, one look at a time, if the last one is long enough ago.

        Somebody may have put another image onto the volume. What is known stays while that is looked at, and where it
        could not be.
        """
        if time.monotonic() >= self._again_at and self._looking.acquire(blocking=False):
            self._again_at = time.monotonic() + (_FRESH_SECONDS if self.images else _AGAIN_SECONDS)
            threading.Thread(target=self._look, name="scout", daemon=True).start()

    def known(self) -> tuple[PodImage, ...]:
        """The images, looked at if need be. Raises ClusterError, ClusterLost, PodTrouble, SupervisorError.

        What a look has come to, all hear who waited for it: one that fails may take as long as a pod may start.
        """
        before = self._looks
        if not self.images:
            with self._looking:
                if self._looks == before:
                    self.images = self.images or self._looked()
                elif self._error is not None and not self.images:
                    raise self._error
        return self.images

    def _look(self) -> None:
        try:
            self.images = self._looked()
            self.why_none = "the volume of images holds none"
        except (ClusterError, ClusterLost, PodTrouble, SupervisorError) as error:
            self.why_none = f"the images cannot be looked at: {error}"
            logger.warning("%s", self.why_none)
        except Exception as error:
            self.why_none = f"the images cannot be looked at: {type(error).__name__}: {error}"
            logger.exception("looking at images broke")
        finally:
            self._looking.release()

    def _looked(self) -> tuple[PodImage, ...]:
        """Looks, and notes what came of it. Whoever calls it holds the lock."""
        self._error = None
        try:
            return self._read()
        except Exception as error:
            self._error = error
            raise
        finally:
            self._looks += 1

    def _read(self) -> tuple[PodImage, ...]:
        pods = self._pods()
        pod = pods.take(self._slot, ROOM, kvm=False)
        try:
            slot = reached(pod, time.monotonic())
            slot.leave()
            return slot.images
        finally:
            # What was read counts; the pod is taken again by the next look.
            pods.discard_quietly(pod, pod.fence)
