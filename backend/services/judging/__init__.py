"""Judges, and the people who check them."""
