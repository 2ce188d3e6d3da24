"""People as agents, and takeover of an agent's desktop."""
