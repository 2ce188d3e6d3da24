"""All checks."""

from pathlib import Path

from backend.cli.doctor import cluster, desktops, machine, servers, store
from backend.cli.doctor.check import Check


def all_checks(data: Path) -> list[Check]:
    """Try everything; about 3 s.

    Args:
        data: Data folder whose disk is looked at.
    """
    return [
        servers.database(),
        servers.broker(),
        store.store(),
        desktops.xvfb(),
        desktops.sandbox(),
        desktops.overlay(),
        desktops.cgroups(),
        desktops.guest_server(),
        desktops.accessibility(),
        *desktops.applications(),
        desktops.wine(),
        machine.kvm(),
        machine.qemu(),
        machine.images(data),
        cluster.k8s(),
        machine.memory(),
        machine.disk(data),
    ]
