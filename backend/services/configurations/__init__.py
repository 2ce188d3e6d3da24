"""Configurations: who acts, under a name that is the same on every page."""
