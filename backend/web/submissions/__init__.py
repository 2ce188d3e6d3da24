"""API and pages: work that people compare."""
