"""Deletions: what is removed, and who asked for it."""
