"""Metrics of spreadsheets and tables, one file each."""
