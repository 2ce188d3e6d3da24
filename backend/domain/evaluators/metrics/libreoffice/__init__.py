"""Metrics of LibreOffice as a whole, one file each."""
