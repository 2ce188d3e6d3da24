"""Tables: external agents."""
