"""What providers and desktops may add where a cluster holds the machines. The docstrings are the specification."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from backend.domain.machines.slots import SlotRef


@runtime_checkable
class RevocableDesktop(Protocol):
    """An OpenDesktop whose machine can be taken away by whatever holds it, and not by what its guest did."""

    def taken_away(self) -> str:
        """Why it was taken away, in words; empty if it was not. The attempt is then lost to the cluster, not the guest.

        Asked when the guest is lost. Bounded in time, raises nothing.
        """
        ...


@runtime_checkable
class Distrusts(Protocol):
    """A Provider that can make a slot's desktops out of something else than before."""

    def distrust(self, slot: SlotRef) -> None:
        """The slot's desktop did not pass the health gate: what it was made in is not used again. Returns at once."""
        ...


LONGEST_REST = 300.0
"""Seconds: a trouble that only one worker knows of is told for so long at most."""


@dataclass(frozen=True)
class SlotTrouble:
    """Why a slot cannot be used now.

    Attributes:
        why: in words.
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
        """Why nothing can be begun in the cluster now, whichever slot it is: its API is away, or does nothing.

        Empty while it does what it is asked, as far as is known. Cheap. Desktops that run go on meanwhile, and a slot
        that has what it needs can be used again.
        """
        ...

    def troubles(self) -> Mapping[str, SlotTrouble] | None:
        """Slots that cannot be used now, by the id of their row. Cheap. None = not known now: nothing is changed."""
        ...
