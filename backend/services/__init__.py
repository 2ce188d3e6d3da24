"""What a user or a worker can do. Functions take a Session first, change records, and never commit: the edge does."""
