"""Queries: work that people compare."""
