"""Comparison of two presentations, one file per aspect."""
