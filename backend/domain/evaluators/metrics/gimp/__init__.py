"""Metrics of picture editing: pictures and the settings of their editor."""
