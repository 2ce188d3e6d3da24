"""Starts docker-compose.yml for real: `python -m tools.compose_smoke`. Needs a Docker engine with Compose."""
