"""Whoever waits for pods holds up nobody who hears of them."""

from threading import Thread
from typing import cast

from worker.k8s.cluster import Cluster
from worker.k8s.pod_watch import PodWatch

POD = {"metadata": {"name": "one", "uid": "1"}}


class TestWait:
    def test_news_come_in_while_something_is_asked(self) -> None:
        watch = PodWatch(cast("Cluster", None), "a=b")

        def asked() -> bool:
            news = Thread(target=watch._pod_changed, args=("ADDED", POD), daemon=True)
            news.start()
            news.join(5)
            return not news.is_alive()

        assert watch.wait(asked, 0)
        assert watch.pod("one") == POD
