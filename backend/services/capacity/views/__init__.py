"""Views of what this installation can run."""
