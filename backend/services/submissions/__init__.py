"""Submissions that people compare."""
