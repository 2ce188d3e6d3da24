"""Queries: submissions that people compare."""
