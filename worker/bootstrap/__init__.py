"""Assembles a worker, once per process."""
