"""Puts a worker together, once per process."""
