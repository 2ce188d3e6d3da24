"""The end of warming, without a cluster."""

import time
from contextlib import ExitStack

import pytest

from backend.config import Settings
from backend.domain.errors import ClusterLost
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec
from tests.waiting import until
from worker.base.circuit_breaker import CircuitBreaker
from worker.base.health import health_limits
from worker.k8s.pods import Pods
from worker.providers import _pod_prewarming
from worker.providers._pod_prewarming import PodPrewarming
from worker.providers._slot_backoff import SlotBackoff
from worker.providers.image_probe_pod import ImageProbe
from worker.providers.pod_slots import PodSlots
from worker.providers.vm_factory import VmFactory


def no_pods() -> Pods:
    raise ClusterLost("there is no cluster")


class TestClose:
    def test_waits_once_however_many_are_being_made(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_pod_prewarming, "END_SECONDS", 1.0)
        settings, slots = Settings(), [SlotRef(n) for n in range(8)]
        found = PodSlots(settings, ImageProbe(no_pods), no_pods)
        warmth = PodPrewarming(
            found,
            VmFactory(health_limits(settings)),
            no_pods,
            SlotBackoff(),
            CircuitBreaker("the cluster", no_pods, ClusterLost),
            "",
        )
        with ExitStack() as held:
            for slot in slots:
                held.enter_context(found.taking(slot))
                warmth.warm(slot, DesktopSpec(screen=ScreenSize(width=640, height=480)))
            begun = time.monotonic()
            warmth.close()
            assert 1.0 <= time.monotonic() - begun < 8.0
            assert len(warmth.making()) == 8
        until(lambda: not warmth.making())
