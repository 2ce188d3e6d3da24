"""What pages show of runs and episodes."""
