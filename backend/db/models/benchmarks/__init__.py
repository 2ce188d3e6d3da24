"""Tables: benchmarks, tasks and published results."""
