"""States, legal transitions, and handling of lost attempts."""
