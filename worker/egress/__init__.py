"""A desktop's only way out: one gateway per desktop."""

from worker.egress.gateway import Gateway, Gateways

__all__ = ["Gateway", "Gateways"]
