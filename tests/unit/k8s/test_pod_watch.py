"""Waiting for pods does not delay other listeners."""

from threading import Thread
from types import SimpleNamespace
from typing import cast

import pytest

from worker.k8s import pod_watch
from worker.k8s.cluster import Cluster
from worker.k8s.pod_status import HITCH_SECONDS, Cause
from worker.k8s.pod_watch import PodWatch

POD = {"metadata": {"name": "one", "uid": "1"}}


class TestWait:
    def test_news_come_in_while_something_is_asked(self) -> None:
        watch = PodWatch(cast("Cluster", None), "a=b")

        def asked() -> bool:
            news = Thread(target=watch.pod_changed, args=("ADDED", POD), daemon=True)
            news.start()
            news.join(60)
            return not news.is_alive()

        assert watch.wait(asked, 0)
        assert watch.pod("one") == POD


class TestHitch:
    """A problem that is reported only once counts from when it was first seen."""

    @staticmethod
    def told(uid: str = "1", reason: str = "FailedAttachVolume") -> dict[str, object]:
        about = {"name": f"{uid}.{reason}"}
        return {"metadata": about, "involvedObject": {"uid": uid}, "reason": reason, "message": "in use"}

    def test_problem_lasts_from_its_first_event(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = [100.0]
        monkeypatch.setattr(pod_watch, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        watch = PodWatch(cast("Cluster", None), "a=b")
        watch.pod_changed("ADDED", POD)
        watch.event_changed("ADDED", self.told(reason="Scheduled"))
        clock[0] += HITCH_SECONDS
        watch.event_changed("ADDED", self.told())
        assert watch.status("one", "1").cause is Cause.NONE
        clock[0] += HITCH_SECONDS
        watch.event_changed("MODIFIED", self.told())
        assert watch.status("one", "1").why == "the pod's volumes are not available: FailedAttachVolume: in use"

    def test_problem_ends_with_the_pods_events(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = [100.0]
        monkeypatch.setattr(pod_watch, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        monkeypatch.setattr(pod_watch, "MOST_PODS", 2)
        watch = PodWatch(cast("Cluster", None), "a=b")
        for uid in ("1", "2", "3"):
            watch.pod_changed("ADDED", {"metadata": {"name": uid, "uid": uid}})
            watch.event_changed("ADDED", self.told(uid))
        clock[0] += HITCH_SECONDS
        assert {uid for uid in ("1", "2", "3") if watch.status(uid, uid).why} == {"2", "3"}
        watch.event_changed("ADDED", self.told("1"))
        assert not watch.status("1", "1").why, "its trouble counts from now on"
