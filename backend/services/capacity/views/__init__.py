"""What pages show of what this installation can run."""
