"""Views of studies and offline studies."""
