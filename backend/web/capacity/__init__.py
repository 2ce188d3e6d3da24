"""API and pages: what this installation can run, and requests to it."""
