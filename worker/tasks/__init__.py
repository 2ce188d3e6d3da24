"""Celery tasks, one file each. Every one may run twice, or not at all: workers do the same by themselves."""
