"""Queries: benchmarks, tasks and published results."""
