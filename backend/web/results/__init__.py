"""API and pages: what runs come to: roll-ups, leaderboards, analyses."""
