"""Tables: people as agents, and their hand on an agent's desktop."""
