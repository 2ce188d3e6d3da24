"""Metrics of slide shows: presentations and the settings of their editor."""
