"""Metrics of our own tasks: lists of goals, one file each."""
