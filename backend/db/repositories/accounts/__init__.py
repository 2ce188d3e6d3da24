"""Queries: projects and actors."""
