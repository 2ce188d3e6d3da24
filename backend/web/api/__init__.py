"""The REST API under /api/v1, as JSON."""
