"""Tables of deletions."""
