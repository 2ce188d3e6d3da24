"""External agents: tokens and channel."""
