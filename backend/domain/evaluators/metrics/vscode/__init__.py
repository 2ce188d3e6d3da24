"""Metrics of editors and code, one file each."""
