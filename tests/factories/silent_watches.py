"""A cluster whose watches say nothing, as over a line that broke without a word."""

from collections.abc import Iterator
from threading import Event
from typing import Any, Self

from worker.k8s.cluster import Cluster, ClusterUnavailable, ResourceKind, WatchEvent, WatchStream


class _Silence:
    """See `WatchStream`. Says nothing until the line is known to be broken, or it is closed."""

    def __init__(self, broken: Event) -> None:
        self._broken, self._closed = broken, False

    def __iter__(self) -> Iterator[WatchEvent]:
        while not self._closed:
            if self._broken.wait(0.05):
                raise ClusterUnavailable("the line broke")
        yield from ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed = True


class Deaf:
    """A cluster as it is, but for its watches: silent until `hear` is called, then as they are."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._hears = cluster, Event()

    def hear(self) -> None:
        """That the lines are broken is noticed now."""
        self._hears.set()

    def __getattr__(self, name: str) -> Any:
        """All else is the cluster's."""
        return getattr(self._cluster, name)

    def watch(
        self, resource: ResourceKind, version: str, *, labels: str = "", fields: str = "", seconds: float = 30.0
    ) -> WatchStream:
        if self._hears.is_set():
            return self._cluster.watch(resource, version, labels=labels, fields=fields, seconds=seconds)
        return _Silence(self._hears)
