"""Queries: recorded trajectories as training data."""
