"""Intervals, paired tests, rank groups: pure functions, seeded where they draw."""
