"""Table layouts."""
