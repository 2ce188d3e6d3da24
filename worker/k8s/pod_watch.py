"""Watches our pods and their events: one watch each for a whole namespace."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from backend.services.lru_cache import LruCache
from worker.k8s.cluster import EVENTS, PODS, Cluster, Object
from worker.k8s.draining_nodes import DrainingNodes
from worker.k8s.pod_status import HITCHES, PodStatus, pod_status, when
from worker.k8s.reflector import Reflector

_MOST_EVENTS = 30
MOST_PODS = 5000


@dataclass
class _PodEvents:
    """Newest events of a pod by name, and since when (monotonic clock) one of them hinders it."""

    by_name: dict[str, Object] = field(default_factory=dict)
    hitch: float | None = None


class PodWatch:
    """Pods and their events, independent of the number of machines. Thread-safe."""

    def __init__(self, cluster: Cluster, labels: str, *, left: DrainingNodes | None = None) -> None:
        """Does not start yet.

        Args:
            cluster: of the pods.
            labels: selector of our pods.
            left: nodes that pods should leave, started and stopped with this; None = not used.
        """
        self._left = left
        self._changed = threading.Condition()
        self._changes = 0
        self._pods: dict[str, Object] = {}
        self._events: LruCache[str, _PodEvents] = LruCache(MOST_PODS)
        self._pods_seen = Reflector(cluster, PODS, labels=labels, on_change=self.pod_changed)
        self._events_seen = Reflector(cluster, EVENTS, fields="involvedObject.kind=Pod", on_change=self.event_changed)

    def start(self) -> None:
        """Starts its background threads."""
        if self._left is not None:
            self._left.start()
        self._pods_seen.start()
        self._events_seen.start()

    def close(self) -> None:
        """Stops them. Safe to call twice."""
        self._pods_seen.stop()
        self._events_seen.stop()
        if self._left is not None:
            self._left.stop()

    def listed(self, seconds: float) -> bool:
        """Waits until pods have been listed once, at most for the given seconds. Whether they have."""
        return self._pods_seen.wait(seconds)

    @property
    def trouble(self) -> str:
        """Why the information may be outdated; empty if it is not."""
        return self._pods_seen.trouble

    @property
    def well(self) -> float:
        """A clock in seconds that stops during outages."""
        return self._pods_seen.well

    def pods(self) -> list[Object]:
        with self._changed:
            return list(self._pods.values())

    def pod(self, name: str) -> Object | None:
        """The pod of that name; None if there is none."""
        with self._changed:
            return self._pods.get(name)

    def status(self, name: str, uid: str) -> PodStatus:
        """State of a pod."""
        with self._changed:
            pod, pod_events = self._pods.get(name), self._events.get(uid) or _PodEvents()
            events = sorted(pod_events.by_name.values(), key=when)
            hitch = 0.0 if pod_events.hitch is None else time.monotonic() - pod_events.hitch
        status = pod_status(pod, events, uid=uid, hitch=hitch)
        if pod is None or self._left is None or not status.there:
            return status
        return replace(status, leave=self._left.why(pod))

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until a condition holds; evaluated at every change. Returns whether it does.

        Args:
            condition: may query the cluster: nobody else is blocked meanwhile.
            seconds: maximum.
        """
        deadline = time.monotonic() + seconds
        while True:
            with self._changed:
                before = self._changes
            if condition():
                return True
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            with self._changed:
                if self._changes == before:
                    self._changed.wait(min(remaining, 1.0))

    def pod_changed(self, kind: str, pod: Object) -> None:
        """A ChangeListener of pods."""
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        with self._changed:
            if kind != "DELETED":
                self._pods[name] = pod
            elif self._pods.get(name, {}).get("metadata", {}).get("uid") == uid:
                del self._pods[name]
            self._changes += 1
            self._changed.notify_all()

    def event_changed(self, kind: str, event: Object) -> None:
        """A ChangeListener of their events."""
        if kind == "DELETED":
            return  # An event that the cluster forgets was said all the same.
        uid = str((event.get("involvedObject") or {}).get("uid") or "")
        with self._changed:
            pod_events = self._events.get_or_make(uid, _PodEvents)
            events = pod_events.by_name
            events[event["metadata"]["name"]] = event
            if event.get("reason") in HITCHES and pod_events.hitch is None:
                pod_events.hitch = time.monotonic()
            while len(events) > _MOST_EVENTS:
                events.pop(min(events, key=lambda name: when(events[name])))
            self._changes += 1
            self._changed.notify_all()
