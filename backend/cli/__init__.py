"""The `deskarena` command."""
