"""Starts docker-compose.yml for real: `python -m tests.trial`. Needs a Docker engine with Compose."""
