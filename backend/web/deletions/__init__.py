"""API and page of deletions."""
