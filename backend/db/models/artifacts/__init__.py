"""Tables: stored bytes."""
