"""API and pages: drafts of own tasks."""
