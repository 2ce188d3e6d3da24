"""Queries: stored bytes."""
