"""Queries: assignment of free slots, and wait reasons."""
