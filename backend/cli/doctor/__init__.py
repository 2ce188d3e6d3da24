"""What this machine can run, found by trying it."""
