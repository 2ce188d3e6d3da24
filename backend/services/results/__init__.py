"""Results of runs: roll-ups, leaderboards, analyses."""
