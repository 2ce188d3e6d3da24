"""Whether a host's machines run with KVM or emulated, and why. The standard library only: this runs in pods, too."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from worker.qemu.machine import EMULATED_CPU, KVM
from worker.qemu.probe import UNFINISHED

DEVICE = Path("/dev/kvm")


class AccelerationReason(StrEnum):
    """Why machines run as they do. A stable code; the accompanying text may change."""

    FASTER = "faster"
    SET = "set"
    NO_DEVICE = "no_device"
    NO_ACCESS = "no_access"
    NO_START = "no_start"
    SLOWER = "slower"
    NO_BOOT = "no_boot"


@dataclass(frozen=True, kw_only=True)
class Acceleration:
    """How machines of this host run.

    Attributes:
        accelerator: `kvm` or `tcg` (emulation).
        reason: code of the reason.
        detail: the reason as text, without a full stop; includes the speed.
        cpu: QEMU's CPU model, without refused features.
        hints: Hyper-V hints of Windows machines; none when emulated.
        refused: features and hints that this KVM or QEMU refuses.
        seconds: accelerator -> part of the probe's workload -> seconds; empty if not measured.
    """

    accelerator: str
    reason: str
    detail: str
    cpu: str = EMULATED_CPU
    hints: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    seconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def emulated(self) -> bool:
        """Whether there is no hardware virtualisation."""
        return self.accelerator != KVM

    @property
    def figures(self) -> str:
        """The trial guest's durations, in brackets; empty if not measured."""
        text = ", ".join(
            f"{'stopped after ' if UNFINISHED in parts else ''}{sum(parts.values()):.1f} s "
            f"{'with KVM' if name == KVM else 'emulated'}"
            for name, parts in self.seconds.items()
        )
        return f" [trial guest: {text}]" if text else ""

    def to_json(self) -> dict[str, Any]:
        """For transfer and the cache."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Reverse of `to_json`. Raises TypeError or KeyError for invalid data."""
        return cls(**{**value, "hints": tuple(value["hints"]), "refused": tuple(value["refused"])})
