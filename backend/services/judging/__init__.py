"""Judges, and their checks by people."""
