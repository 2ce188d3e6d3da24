"""API and pages: results of runs: roll-ups, leaderboards, analyses."""
