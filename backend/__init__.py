"""Deskarena's service: domain, database, services and web. Never imports `worker`."""
