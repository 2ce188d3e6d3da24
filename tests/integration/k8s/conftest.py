"""One fake cluster with a tiny machine image, and one provider, for all tests of this folder."""

from collections.abc import Iterator

import pytest

from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from tests.factories.fake_cluster_pods import PodCluster, k8s_place
from tests.factories.tiny_machine import SCREEN, needs_qemu, tiny_image
from worker.providers.k8s import K8sProvider

SPEC = DesktopSpec(screen=SCREEN)


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodCluster]:
    needs_qemu()
    with k8s_place(tmp_path_factory.mktemp("k8s"), tiny_image) as k8s:
        yield k8s


@pytest.fixture(scope="package")
def provider(place: PodCluster) -> Iterator[K8sProvider]:
    k8s_provider = place.provider()
    yield k8s_provider
    k8s_provider.close()


def slot(index: int = 0, node: str = "node-1", fence: int = 1) -> SlotRef:
    """A leased slot."""
    return SlotRef(index, node, f"slot-{node}-{index}", fence)
