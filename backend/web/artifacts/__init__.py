"""API and pages: stored bytes."""
