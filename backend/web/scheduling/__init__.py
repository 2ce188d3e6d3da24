"""API and pages: signals for autoscalers."""
