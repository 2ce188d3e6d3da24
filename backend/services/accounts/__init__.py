"""Who acts, and for which project."""
