"""Where the service answers."""

DEFAULT_PORT = 8000
API = "/api/v1"
"""Path of the REST API. `deskarena.client`, which imports nothing of the service, has it once more."""
