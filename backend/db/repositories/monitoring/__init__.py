"""Queries: metrics and status of the installation."""
