"""API and pages: projects and actors."""
