"""API and pages: benchmarks, their tasks and what suites publish beside them."""
