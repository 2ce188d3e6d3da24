"""Metrics of PDF files, one file each."""
