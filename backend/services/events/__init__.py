"""Events of runs, and the live view: access to the broker's data.

Postgres is the truth. The broker only announces changes, so nothing is lost while it is unavailable: listeners also
read Postgres periodically.
"""

from backend.services.events.broker import broker_state, configure
from backend.services.events.clipboard import clipboard_request, put_clipboard, read_clipboard
from backend.services.events.live import FULL_WIDTH, LiveFrame, hurried, put_frame, watched_width
from backend.services.events.log import EventKind, append, append_all, list_after
from backend.services.events.patience import end_patience, patience
from backend.services.events.watch import (
    close_listeners,
    latest_frame,
    mark_hurry,
    mark_watching,
    subscribe_attempt,
    subscribe_run,
)

__all__ = [
    "FULL_WIDTH",
    "EventKind",
    "LiveFrame",
    "append",
    "append_all",
    "broker_state",
    "clipboard_request",
    "close_listeners",
    "configure",
    "end_patience",
    "hurried",
    "latest_frame",
    "list_after",
    "mark_hurry",
    "mark_watching",
    "patience",
    "put_clipboard",
    "put_frame",
    "read_clipboard",
    "subscribe_attempt",
    "subscribe_run",
    "watched_width",
]
