"""Who looks for images where there is no cluster."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backend.domain.errors import ClusterLost
from tests.waiting import until
from worker.k8s.pods import Pods
from worker.providers._scout import Scout


class Queue:
    """A lock that knows how many have come to it."""

    def __init__(self) -> None:
        self._lock, self.came = threading.Lock(), 0

    def __enter__(self) -> None:
        self.came += 1
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class TestKnown:
    def test_one_failed_look_serves_all_that_waited_for_it(self) -> None:
        looks: list[int] = []
        over = threading.Event()

        def no_pods() -> Pods:
            looks.append(len(looks))
            over.wait(20)
            raise ClusterLost(f"look {len(looks)}")

        scout: Any = Scout(no_pods)
        scout._looking = queue = Queue()
        with ThreadPoolExecutor(4) as asking:
            asked = [asking.submit(scout.known) for _ in range(4)]
            until(lambda: queue.came == 4)
            over.set()
            assert [str(each.exception(20)) for each in asked] == ["look 1"] * 4
        assert len(looks) == 1
        with pytest.raises(ClusterLost, match="look 2"):
            scout.known()
