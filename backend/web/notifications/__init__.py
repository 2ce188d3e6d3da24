"""API, page and sender of notifications."""
