"""All checks."""

from pathlib import Path

from backend.cli.doctor import cluster, desktops, machine, servers, store
from backend.cli.doctor.check import Check


def all_checks(data: Path, accelerator: str) -> list[Check]:
    """Try everything; about 5 s, and 15 s more where KVM is slow.

    Args:
        data: Data folder whose disk is looked at.
        accelerator: How virtual machines run, the setting.
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
        *machine.machines(accelerator),
        machine.images(data),
        cluster.k8s(),
        machine.memory(),
        machine.disk(data),
    ]
