"""Queries: stored bytes, and the guarded way to the web that fetches them."""
