"""Benchmarks, their tasks and what suites publish beside them."""
