"""API and pages: runs and their episodes."""
