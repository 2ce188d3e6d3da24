"""Tables: runs and their episodes."""
