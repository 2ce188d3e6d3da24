"""API and pages: metrics and status."""
