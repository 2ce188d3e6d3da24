"""Queries: external agents."""
