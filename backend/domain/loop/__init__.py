"""The agent loop: observe, decide, act, record."""
