"""Metrics that read somebody's judgement, one file each."""
