"""Programs with their own process: `python -m worker.commands.<name>`."""
