"""A pod's share of its node."""

from backend.config import Settings
from backend.domain.model.units import GIB
from worker.k8s.manifests import PodResources
from worker.k8s.plan import PodPlan
from worker.k8s.pod_requests import pod_need


def test_is_what_its_manifest_requests() -> None:
    """The machine's memory and what QEMU takes beside it; the room for templates and for what machines write."""
    plan = PodPlan.from_settings(
        Settings(k8s_pod_image="vm:1", k8s_template_volume="empty:16Gi", k8s_scratch_size="8Gi")
    )
    need = pod_need(plan, PodResources(memory_mib=4096, cores=1.5))
    assert need.memory > 4 * GIB
    assert (need.cores, need.disk) == (1.5, 24 * GIB)
