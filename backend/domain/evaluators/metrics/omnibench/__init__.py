"""Metrics of OmniBench, one file each: its checks, and what joins them."""
