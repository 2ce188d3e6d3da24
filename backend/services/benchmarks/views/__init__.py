"""What pages show of benchmarks and tasks."""
