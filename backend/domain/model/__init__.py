"""Core values: tasks, runs, episodes, trajectories, scores."""
