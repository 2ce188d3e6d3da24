"""Drafts of own tasks."""
