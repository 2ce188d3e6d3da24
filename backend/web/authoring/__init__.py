"""API and pages: own tasks before they count."""
