"""Every kind of fault: importing this package registers all."""

from tests.chaos.faults import clocks, disk, guests, network, parts, users
from tests.chaos.faults.base import KINDS, Blow, Fault, KindOfFault, Scene

__all__ = ["KINDS", "Blow", "Fault", "KindOfFault", "Scene", "clocks", "disk", "guests", "network", "parts", "users"]
