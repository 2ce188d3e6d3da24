"""Drafts of tasks as they are shown."""
