"""Metrics of Microsoft Edge's profile, one file each."""
