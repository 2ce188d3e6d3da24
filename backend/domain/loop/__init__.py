"""The agent loop: observe, decide, act, keep."""
