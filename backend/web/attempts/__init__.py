"""API and pages: attempts, their evaluations and evidence."""
