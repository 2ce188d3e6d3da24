"""All websocket routers."""

from backend.web.ws import control, events, live

ROUTERS = (events.router, live.router, control.router)
