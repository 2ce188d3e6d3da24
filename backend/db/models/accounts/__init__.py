"""Tables: who acts, and for which project."""
