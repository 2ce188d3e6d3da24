"""API and pages: people as agents, and takeover of desktops."""
