"""Every kind of fault: importing this package registers all."""

from tools.chaos.faults import clocks, disk, guests, network, nodes, parts, pods, users
from tools.chaos.faults.base import KINDS, Fault, KindOfFault, PodMark, Scene, WorkerHit

__all__ = [
    "KINDS",
    "Fault",
    "KindOfFault",
    "PodMark",
    "Scene",
    "WorkerHit",
    "clocks",
    "disk",
    "guests",
    "network",
    "nodes",
    "parts",
    "pods",
    "users",
]
