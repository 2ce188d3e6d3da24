"""All checks, and what they come to."""

from collections.abc import Sequence
from pathlib import Path

from backend.cli.doctor import desktops, machine, servers
from backend.cli.doctor.check import Check, State

# Without these no local desktop can be started.
NEEDED_FOR_LOCAL = ("xvfb", "sandbox", "guest server", "window manager")
NEEDED_FOR_STACK = ("database", "broker")


def all_checks(data: Path) -> list[Check]:
    """Try everything; about 3 s.

    Args:
        data: Data folder whose disk is looked at.
    """
    return [
        servers.database(),
        servers.broker(),
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
        machine.memory(),
        machine.disk(data),
    ]


def verdict(checks: Sequence[Check]) -> dict[str, bool]:
    """What can run here: the stack itself, and desktops of each provider."""
    works = {check.name for check in checks if check.state is State.OK}
    return {
        "stack": works.issuperset(NEEDED_FOR_STACK),
        "local": works.issuperset(NEEDED_FOR_LOCAL),
        "qemu": "qemu" in works,
    }
