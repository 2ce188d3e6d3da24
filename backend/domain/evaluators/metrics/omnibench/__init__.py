"""Metrics of OmniBench, one file each: its checks and their combinations."""
