"""Capabilities of this installation, and requests to its workers."""
