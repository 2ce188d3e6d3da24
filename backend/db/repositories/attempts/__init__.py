"""Queries: attempts, their evaluations and evidence."""
