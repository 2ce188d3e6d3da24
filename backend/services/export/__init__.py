"""Recorded trajectories as training data."""
