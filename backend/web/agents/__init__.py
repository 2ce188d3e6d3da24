"""API and pages: tokens and channel of external agents."""
