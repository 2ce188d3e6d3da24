"""Foundations of the worker: leases, threads, the database."""
