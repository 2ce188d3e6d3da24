"""Queries: who acts, and for which project."""
