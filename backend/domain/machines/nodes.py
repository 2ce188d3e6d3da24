"""Nodes as a worker sees them: its own machine, or those of a cluster."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from backend.domain.model.task import Frozen


class NodeState(StrEnum):
    """Whether a node's slots may be leased, and what becomes of what runs there."""

    READY = "ready"
    DRAINING = "draining"
    """Nothing new begins there; what runs may finish."""
    UNREADY = "unready"
    """It does not answer. Nothing new begins; what runs is waited for, a short while."""
    LOST = "lost"
    """It did not come back in time, or drives everything out: what runs there is lost, and tried elsewhere at once."""
    GONE = "gone"
    """The cluster has it no more; otherwise as `lost`."""

    @property
    def ends_attempts(self) -> bool:
        """Whether what runs there is given up."""
        return self in {NodeState.LOST, NodeState.GONE}


class NodeReport(Frozen):
    """What a worker saw of one node of a cluster.

    Attributes:
        name: in the cluster; empty = wherever the cluster's own scheduler places a pod.
        state: what may be done there.
        reason: why, in words. A ready node that has a reason is used after all others.
        slots: desktops that it runs at once.
        labels: of the node object, those that people ask for.
        capacity: what the slots were counted from: `devices`, `memory` and `disk` in bytes, `cpu` in thousandths.
    """

    name: str
    state: NodeState
    reason: str = ""
    slots: int = Field(default=0, ge=0, le=1000)
    labels: Mapping[str, str] = {}
    capacity: Mapping[str, int] = {}


def cluster_of(capabilities: Mapping[str, Any], provider: str) -> str:
    """The cluster whose slots a worker may lease for a provider; empty = those of its own machine."""
    return str(capabilities.get("providers", {}).get(provider, {}).get("cluster", ""))
