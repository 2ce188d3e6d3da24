"""Queries: drafts of own tasks."""
