"""Tables: people as agents."""
