"""API and pages: recorded trajectories as training data."""
