"""Demonstrations: recorded steps with their correct actions, and readers of published sets of them."""
