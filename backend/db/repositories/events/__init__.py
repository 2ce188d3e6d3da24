"""Queries: events of runs."""
