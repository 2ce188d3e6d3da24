"""Metrics of a browser's pages, profile and PDF files, one file each."""
