"""Queries: benchmarks, their tasks and what suites publish beside them."""
