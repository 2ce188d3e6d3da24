"""Getters, one file each: what a metric looks at. `collect` in the worker, `read` in the child process."""
