"""Summary of the checks: whether the service and each kind of desktop work here, why not, and how many slots."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.cli.doctor.check import CheckState, DoctorCheck
from backend.domain.machines.slots import DesktopNeeds, FreeResources, SlotCount, slot_count

NEEDED_FOR_STACK = ("database", "broker", "store")
NEEDED_FOR_LOCAL = ("local desktop", "xvfb", "sandbox", "guest server", "window manager")
NEEDED: Mapping[str, Sequence[str]] = {
    "stack": NEEDED_FOR_STACK,
    "local": NEEDED_FOR_LOCAL,
    "local, Windows programs": (*NEEDED_FOR_LOCAL, "wine"),
    "qemu": ("qemu", "images"),
    "k8s": ("k8s",),
}
"""Checks without which it does not work at all."""
RECOMMENDED: Mapping[str, Sequence[str]] = {
    "stack": ("evaluators",),
    "local": ("overlay", "cgroups", "accessibility"),
    "qemu": ("kvm",),
}
"""Checks without which it works with restrictions."""
HERE = ("local", "qemu")
"""Kinds of desktops that have slots on this machine."""
DESKTOPS = (*HERE, "k8s")


@dataclass(frozen=True, kw_only=True)
class DoctorVerdict:
    """One line of the summary.

    Args:
        name: `stack` for the service, or a kind of desktop.
        works: Whether it works here.
        reason: Why it does not work, or with which restrictions; empty if it works fully.
        slots: Number of slots and the reason for it; None if not applicable.
    """

    name: str
    works: bool
    reason: str
    slots: SlotCount | None = None


def verdicts(
    checks: Sequence[DoctorCheck], room: FreeResources, needs: Mapping[str, DesktopNeeds], slot_limit: int | None
) -> list[DoctorVerdict]:
    """Summarises the checks.

    Args:
        checks: All results.
        room: Resources of the machine.
        needs: Resources per desktop, by kind.
        slot_limit: Configured number of slots; None = computed.
    """
    by_name = {check.name: check for check in checks}
    return [_verdict(name, by_name, room, needs, slot_limit) for name in NEEDED]


def _verdict(
    name: str,
    checks: Mapping[str, DoctorCheck],
    room: FreeResources,
    needs: Mapping[str, DesktopNeeds],
    slot_limit: int | None,
) -> DoctorVerdict:
    lacks = _failed_checks(NEEDED[name], checks)
    if lacks:
        # A check that could not run is not a reason.
        reasons = [check for check in lacks if check.state is not CheckState.UNTRIED] or lacks
        return DoctorVerdict(
            name=name, works=False, reason="; ".join(f"{check.name}: {check.detail}" for check in reasons)
        )
    poor = "; ".join(check.means for check in _failed_checks(RECOMMENDED.get(name, ()), checks))
    slots = slot_count(room, needs.get(name, DesktopNeeds()), slot_limit=slot_limit) if name in HERE else None
    if slots is not None and not slots.number and slot_limit != 0:
        return DoctorVerdict(name=name, works=False, reason=f"no slots: {slots.reason}")
    return DoctorVerdict(name=name, works=True, reason=poor, slots=slots)


def _failed_checks(names: Iterable[str], checks: Mapping[str, DoctorCheck]) -> list[DoctorCheck]:
    return [checks[name] for name in names if checks[name].state is not CheckState.OK]
