"""Queries: people as agents."""
