"""Metrics that need no evidence, one file each."""
