"""Monitoring for operators: metrics and status."""
