"""The values that everything speaks of: tasks, runs, episodes, trajectories, scores."""
