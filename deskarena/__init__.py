"""Bring your own agent to a Deskarena service: a small REST client, a Gymnasium environment and OSWorld's `DesktopEnv`.

`deskarena.client` needs httpx only, `deskarena.desktop_env` Pillow besides, `deskarena.gym` gymnasium and numpy.
Nothing here needs the service itself to be installed. See docs/bring-an-agent.md.
"""
