"""Metrics of the desktop itself, one file each."""
