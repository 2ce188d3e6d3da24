"""API and pages: events of runs, and the live view."""
