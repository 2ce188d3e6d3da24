"""Metrics of word-processor documents, one file each."""
