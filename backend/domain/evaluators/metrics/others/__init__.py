"""Metrics of electronic books and of tags in music, one file each."""
