"""What this installation can run, and requests to its workers."""
