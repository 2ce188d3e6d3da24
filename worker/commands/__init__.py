"""Commands of their own process: `python -m worker.commands.<name>`."""
