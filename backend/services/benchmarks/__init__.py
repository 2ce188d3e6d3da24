"""Benchmarks, tasks, and what suites publish with them."""
