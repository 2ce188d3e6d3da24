"""Where the service answers."""

DEFAULT_PORT = 8000
PUBLIC_PATH = "/public/"
"""Below it, a public link's token opens one view of a board."""
EMBED_PATH = "/embed/"
"""Likewise, without navigation, for frames of other sites."""
API = "/api/v1"
"""Path of the REST API. `deskarena.client`, which imports nothing of the service, has it once more."""
