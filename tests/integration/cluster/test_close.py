"""A worker that ends does not wait for each of its pods in turn."""

import time
from pathlib import Path

import pytest

from backend.domain import registry
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from tests.factories.fake_cluster_pods import NAMESPACE, light_place
from tests.factories.light_guest import SCREEN
from worker.k8s import pods
from worker.k8s.client import connect
from worker.k8s.cluster import PODS

GONE_SECONDS = 3.0


class TestClose:
    def test_waits_once_for_all_pods_that_do_not_go(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pods, "GONE_SECONDS", GONE_SECONDS)
        registry.load()
        with light_place(tmp_path) as place:
            worker = place.provider()
            for index in range(3):
                worker.open(SlotRef(index, "node-1", f"s{index}", 1), DesktopSpec(screen=SCREEN))
            cluster = connect(str(place.kubeconfig), NAMESPACE)
            for pod in place.named():
                cluster.patch(PODS, pod["metadata"]["name"], {"metadata": {"finalizers": ["example.com/stay"]}})
            cluster.close()
            began = time.monotonic()
            worker.close()
            assert GONE_SECONDS < time.monotonic() - began < 3 * GONE_SECONDS
            left = [pod for pod in place.named() if "s" in pod["metadata"]["labels"]["deskarena.dev/slot"][:1]]
            assert [bool(pod["metadata"].get("deletionTimestamp")) for pod in left] == [True] * 3
