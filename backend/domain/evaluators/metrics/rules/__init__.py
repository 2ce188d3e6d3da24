"""Metrics that decide without looking, one file each."""
