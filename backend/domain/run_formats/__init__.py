"""Formats of whole runs for other tools; pure."""
