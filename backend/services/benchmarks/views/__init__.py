"""Views of benchmarks and tasks."""
