"""Metrics, one file each: plain functions that compare and say why."""
