"""All websocket routers."""

from backend.web.events import event_socket, live_socket
from backend.web.people import takeover_socket

ROUTERS = (event_socket.router, live_socket.router, takeover_socket.router)
