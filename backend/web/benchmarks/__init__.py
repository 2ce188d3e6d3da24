"""API and pages: benchmarks, tasks and published results."""
