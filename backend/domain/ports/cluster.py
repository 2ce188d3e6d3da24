"""Optional features of providers and desktops whose machines are managed elsewhere: by a cluster or a supervisor.

The docstrings are the specification.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from backend.domain.machines.slots import SlotRef


@runtime_checkable
class RevocableDesktop(Protocol):
    """An OpenDesktop whose machine can be revoked for reasons outside the guest."""

    def revocation_reason(self) -> str:
        """Why it was revoked; empty if it was not. The attempt is then lost to the cluster, not the guest.

        For example: its supervisor died, or its pod was evicted.

        Asked when the guest is lost. Bounded in time, raises nothing.
        """
        ...


@runtime_checkable
class Distrusts(Protocol):
    """A Provider that can make a slot's desktops out of something else than before."""

    def distrust(self, slot: SlotRef) -> None:
        """The slot's desktop failed the health check: its pod is not reused. Returns at once."""
        ...


LONGEST_REST = 300.0
"""Maximum seconds for which a problem known to one worker only is reported."""


@dataclass(frozen=True)
class SlotTrouble:
    """Why a slot cannot be used now.

    Attributes:
        why: the reason.
        until: None = all workers of the cluster see it while it lasts. Else only this one knows, and it lasts so long.
    """

    why: str
    until: dt.datetime | None = None


@runtime_checkable
class ClusterProvider(Protocol):
    """A Provider whose slots are those of a cluster's nodes, not of the worker's own machine.

    Attributes:
        name: of the provider.
        cluster: its name: workers with the same one share its slots. Empty while it is not known.
        desktops: that one worker runs at once, at most.
    """

    name: str
    cluster: str
    desktops: int

    def away(self) -> str:
        """Why no slot of the cluster can be used now: its API is unavailable, or does nothing.

        Empty while it works, as far as is known. Cheap. Running desktops continue meanwhile, and a slot that has what
        it needs can be used again.
        """
        ...

    def troubles(self) -> Mapping[str, SlotTrouble] | None:
        """Slots that cannot be used now, by the id of their row. Cheap. None = not known now: nothing is changed."""
        ...
