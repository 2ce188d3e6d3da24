"""Tables: results of runs: roll-ups, leaderboards, analyses."""
