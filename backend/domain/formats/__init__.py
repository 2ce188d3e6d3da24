"""Readers of document formats, shared by getters, metrics and agents."""
