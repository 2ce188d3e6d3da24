"""All websocket routers."""

from backend.web.ws import events, live

ROUTERS = (events.router, live.router)
