"""Metrics of e-books and of music tags, one file each."""
