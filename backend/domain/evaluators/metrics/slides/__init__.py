"""Metrics of presentations and of Impress' settings, one file each."""
