"""Demonstrations: recorded steps with their right actions, and readers of published sets of them."""
