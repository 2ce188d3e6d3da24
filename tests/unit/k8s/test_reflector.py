"""A watch that ends at once does not have the server asked as fast as it answers."""

import time
from collections.abc import Iterator
from typing import Self, cast

import pytest

from tests.waiting import until
from worker.k8s.cluster import PODS, Cluster, ClusterUnavailable, ObjectList, WatchEvent
from worker.k8s.reflector import Reflector


class _Nothing:
    """A watch that is over; see `Watching`."""

    def __iter__(self) -> Iterator[WatchEvent]:
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def close(self) -> None:
        return


class Hasty:
    """A cluster that ends each watch at once and without an error, as behind a proxy that does not stream."""

    def __init__(self) -> None:
        self.watches = 0

    def list(self, *_: object, **__: object) -> ObjectList:
        return ObjectList((), "1")

    def watch(self, *_: object, **__: object) -> _Nothing:
        self.watches += 1
        return _Nothing()


class ClosingCluster:
    """A cluster whose API server closes every connection."""

    def list(self, *_: object, **__: object) -> ObjectList:
        raise ClusterUnavailable("it closed the connection") from ConnectionResetError(104, "reset")


class TestReflector:
    def test_rests_longer_and_longer_where_each_watch_ends_at_once(self) -> None:
        cluster = Hasty()
        reflector = Reflector(cast("Cluster", cluster), PODS, first_pause=0.1)
        began = time.monotonic()
        reflector.start()
        until(lambda: cluster.watches >= 5)
        assert time.monotonic() - began > 0.7
        assert "ended at once" in reflector.trouble
        reflector.stop()

    def test_the_log_has_what_the_connection_said(self, caplog: pytest.LogCaptureFixture) -> None:
        reflector = Reflector(cast("Cluster", ClosingCluster()), PODS)
        reflector.start()
        until(lambda: reflector.trouble)
        reflector.stop()
        assert reflector.trouble == "it closed the connection"
        assert "it closed the connection (ConnectionResetError(104, 'reset'))" in caplog.text
