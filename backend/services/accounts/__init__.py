"""Projects and actors."""
