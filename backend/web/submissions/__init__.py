"""API and pages: submissions that people compare."""
