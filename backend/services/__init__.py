"""Use cases of users and workers. Functions take a Session first, change records, and never commit: the caller does."""
