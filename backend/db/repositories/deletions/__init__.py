"""Queries of deletions."""
