"""Nodes from a worker's view: its own machine, or those of a cluster."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from backend.domain.model.task import Frozen


class NodeState(StrEnum):
    """Whether a node's slots may be leased, and what happens to running attempts."""

    READY = "ready"
    DRAINING = "draining"
    """Nothing new starts there; running attempts may finish."""
    UNREADY = "unready"
    """It does not answer. Nothing new starts; running attempts are waited for briefly."""
    LOST = "lost"
    """It did not come back in time, or evicts everything: running attempts are lost and retried elsewhere at once."""
    GONE = "gone"
    """The cluster no longer has it; otherwise as `lost`."""

    @property
    def ends_attempts(self) -> bool:
        """Whether running attempts are given up."""
        return self in {NodeState.LOST, NodeState.GONE}


class NodeReport(Frozen):
    """A worker's report of one node of a cluster.

    Attributes:
        name: name in the cluster; empty = placed by the cluster's scheduler.
        state: state of the node.
        reason: reason of the state. A ready node with a reason is used last.
        slots: number of parallel desktops.
        labels: labels of the node object that selectors use.
        capacity: resources that the slots were computed from: `devices`, `memory` and `disk` in bytes, `cpu` in
            thousandths.
    """

    name: str
    state: NodeState
    reason: str = ""
    slots: int = Field(default=0, ge=0, le=1000)
    labels: Mapping[str, str] = {}
    capacity: Mapping[str, int] = {}


def cluster_of(capabilities: Mapping[str, Any], provider: str) -> str:
    """The cluster whose slots a worker may lease for a provider; empty = its own machine's slots."""
    return str(capabilities.get("providers", {}).get(provider, {}).get("cluster", ""))
