"""What pages show of results."""
