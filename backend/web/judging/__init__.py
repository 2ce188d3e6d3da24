"""API and pages: judges, and reviews by people."""
