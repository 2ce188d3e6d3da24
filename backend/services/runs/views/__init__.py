"""Views of runs and episodes."""
