"""Queries: judges, and the people who check them."""
