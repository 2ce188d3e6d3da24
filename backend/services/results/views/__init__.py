"""Views of results."""
