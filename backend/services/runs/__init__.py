"""Runs and their episodes."""
