"""Getters, one file each: the input of metrics. `collect` runs in the worker, `read` in the child process."""
