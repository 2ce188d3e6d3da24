"""Queries: events of runs, the live view, and the waking of workers."""
