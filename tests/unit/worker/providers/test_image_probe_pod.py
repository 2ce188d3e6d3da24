"""Who looks for images where there is no cluster."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.domain.errors import ClusterLost
from tests.error_codes import raises_fields
from tests.waiting import until
from worker.k8s.plan import Volume
from worker.k8s.pods import Pod, Pods
from worker.providers import image_probe_pod
from worker.providers._pod_images import PodImage
from worker.providers.image_probe_pod import ImageProbe
from worker.providers.pod_slot import PodSlot


class Queue:
    """A lock that counts the threads at it."""

    def __init__(self) -> None:
        self._lock, self.came = threading.Lock(), 0

    def __enter__(self) -> None:
        self.came += 1
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def no_pods() -> Pods:
    raise ClusterLost("there is no cluster")


class TestHeard:
    CLONE, CLAIM, OWN = Volume("clone", "golden", room="1Gi"), Volume("claim", "golden"), Volume("claim", "its-{node}")

    def held(self, *images: str, node: str = "n1") -> PodSlot:
        told: Any = None
        pod = Pod("p", "u", node, "10.0.0.7", 1, "token", is_new=True)
        found = tuple(PodImage(Path("/images") / name, None, reason="none") for name in images)
        return PodSlot(pod, told, told, found, 1, 0.0)

    def names(self, scout: ImageProbe) -> list[str]:
        return [each.folder.name for each in scout.images]

    def test_shared_volume_images_come_from_the_latest_pod(self) -> None:
        scout = ImageProbe(no_pods)
        scout.note_images(self.CLAIM, self.held("a"))
        scout.note_images(self.CLAIM, self.held("b", node="n2"))
        assert self.names(scout) == ["b"]

    def test_node_images_are_collected_from_all_nodes(self) -> None:
        scout = ImageProbe(no_pods)
        scout.note_images(self.OWN, self.held("a"))
        scout.note_images(self.OWN, self.held("b", node="n2"))
        assert self.names(scout) == ["a", "b"]

    def test_cloned_volume_images_come_from_the_newest_clone(self) -> None:
        scout = ImageProbe(no_pods)
        scout.note_images(self.CLONE, self.held("a", "b"), new=True)
        scout.note_images(self.CLONE, self.held("a"))
        assert self.names(scout) == ["a", "b"]

    def test_empty_report_does_not_clear_known_images(self) -> None:
        scout = ImageProbe(no_pods)
        scout.note_images(self.CLAIM, self.held("a"))
        scout.note_images(self.CLAIM, self.held())
        assert self.names(scout) == ["a"]


class TestKnown:
    def test_failed_probe_is_shared_by_all_waiting_callers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        looks: list[int] = []
        over = threading.Event()

        def no_pods() -> Pods:
            looks.append(len(looks))
            over.wait(20)
            raise ClusterLost(f"look {len(looks)}")

        queue = Queue()
        monkeypatch.setattr(image_probe_pod, "threading", SimpleNamespace(Lock=lambda: queue))
        scout = ImageProbe(no_pods)
        with ThreadPoolExecutor(4) as asking:
            asked = [asking.submit(scout.known) for _ in range(4)]
            until(lambda: queue.came == 4)
            over.set()
            assert [str(each.exception(20)) for each in asked] == ["look 1"] * 4
        assert len(looks) == 1
        with raises_fields(ClusterLost, message="look 2"):
            scout.known()
