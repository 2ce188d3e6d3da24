"""Metrics of Thunderbird, one file each."""
