"""Embedded stack: a private PostgreSQL and broker, the API and the workers, as one process tree."""
