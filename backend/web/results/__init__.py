"""API and pages: results of runs: leaderboards, analyses, failures."""
