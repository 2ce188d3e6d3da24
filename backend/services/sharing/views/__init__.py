"""Views of shared boards."""
