"""Metrics, one file each: plain functions that compare values and give a reason."""
