"""What runs come to: roll-ups, leaderboards, analyses."""
