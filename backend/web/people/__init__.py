"""API and pages: people as agents, and their hand on an agent's desktop."""
