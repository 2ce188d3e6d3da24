"""Queries: configurations of agents."""
