"""Payloads of notifications, and what pages show of them."""
