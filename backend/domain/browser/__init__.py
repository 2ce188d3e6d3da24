"""The desktop's browser, and services reached through it."""
