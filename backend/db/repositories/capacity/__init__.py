"""Queries: what this installation can run, and what is asked of it."""
