"""Metrics based on a judge's answers, one file each."""
