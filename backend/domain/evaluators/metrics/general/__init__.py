"""Metrics of text, values and rules, one file each."""
