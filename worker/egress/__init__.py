"""A desktop's only way out: one gateway per desktop, and for virtual machines the lines that lead to it."""

from worker.egress.gateway import Gateway, Gateways
from worker.egress.guest_tunnels import GuestTunnels

__all__ = ["Gateway", "Gateways", "GuestTunnels"]
