"""States, their legal transitions, and what becomes of what was lost."""
