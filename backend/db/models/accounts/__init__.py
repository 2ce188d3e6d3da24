"""Tables: projects and actors."""
