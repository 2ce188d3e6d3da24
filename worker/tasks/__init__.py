"""Celery tasks, one module each. Every task may run twice, or not at all: workers do the same by themselves."""
