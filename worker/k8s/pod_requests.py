"""Resources that a pod requests of its node, read from its manifest. Pure."""

from collections.abc import Iterable

from backend.domain.machines.machine_image import MachineImage
from backend.domain.machines.slots import DesktopNeeds, SlotRef, need_of
from backend.domain.model.units import MIB
from worker.k8s import manifests
from worker.k8s.manifests import PodResources
from worker.k8s.plan import PodPlan
from worker.k8s.quantities import amount


def largest_need(plan: PodPlan | None, images: Iterable[MachineImage | None]) -> DesktopNeeds | None:
    """Requests of the largest machine's pod; None while plan or images are unknown."""
    machines = [image for image in images if image is not None]
    if plan is None or not machines:
        return None
    return pod_need(
        plan,
        PodResources(
            max(machine.memory_mib for machine in machines), max(need_of(machine).cores for machine in machines)
        ),
    )


def pod_need(plan: PodPlan, room: PodResources) -> DesktopNeeds:
    """Requests of a machine's pod."""
    body = manifests.pod(plan, SlotRef(0), room, secret="", worker="", deadline=0.0)
    requests = body["spec"]["containers"][0]["resources"]["requests"]
    return DesktopNeeds(
        memory=int(amount(requests["memory"]) or MIB),
        cores=float(amount(requests["cpu"]) or 1),
        disk=int(amount(requests["ephemeral-storage"]) or MIB),
    )
