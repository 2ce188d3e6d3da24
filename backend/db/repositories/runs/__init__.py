"""Queries: runs and their episodes."""
