"""Queries: judges, and reviews by people."""
