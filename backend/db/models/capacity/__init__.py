"""Tables: what this installation can run, and requests to it."""
