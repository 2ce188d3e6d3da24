"""Egress of desktops: one gateway per desktop, and tunnels to it for virtual machines."""

from worker.egress.gateway import Gateway, Gateways
from worker.egress.guest_tunnels import GuestTunnels

__all__ = ["Gateway", "Gateways", "GuestTunnels"]
