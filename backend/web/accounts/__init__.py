"""API and pages: who acts, and for which project."""
