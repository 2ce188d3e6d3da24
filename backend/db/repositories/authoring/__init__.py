"""Queries: own tasks before they count."""
