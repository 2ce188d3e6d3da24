"""Tables: what runs come to: roll-ups, leaderboards, analyses."""
