"""Queries: what runs come to: roll-ups, leaderboards, analyses."""
