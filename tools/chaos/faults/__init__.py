"""Every kind of fault: importing this package registers all."""

from tools.chaos.faults import clocks, disk, guests, network, nodes, parts, pods, users
from tools.chaos.faults.base import KINDS, Blow, Fault, KindOfFault, Mark, Scene

__all__ = [
    "KINDS",
    "Blow",
    "Fault",
    "KindOfFault",
    "Mark",
    "Scene",
    "clocks",
    "disk",
    "guests",
    "network",
    "nodes",
    "parts",
    "pods",
    "users",
]
