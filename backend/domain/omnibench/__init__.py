"""OmniBench's material: a pool of subtasks, and the graphs that are composed of them (docs/benchmarks/omnibench.md)."""
