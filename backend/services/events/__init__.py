"""Events of runs, and the live view: the only door to the broker's data.

Postgres is the truth. What goes through the broker only says that there is something new, so that nothing is lost
when the broker is away: whoever listens also reads Postgres now and then.
"""

from backend.services.agents.agent_channel_store import (
    API_SECONDS,
    Said,
    Seen,
    api_there,
    forget_heard,
    forget_seen,
    has_broker,
    heard,
    is_forgotten,
    keep_seen,
    latest_index,
    latest_seen,
    mark_api,
    mark_heard,
    next_said,
    put_seen,
    say,
    subscribe_line,
)
from backend.services.events.broker import broker_state, configure
from backend.services.events.live import LiveFrame, put_frame, watchers
from backend.services.events.log import Kind, append, append_all, list_after
from backend.services.events.patience import end_patience, patience
from backend.services.events.watch import (
    close_listeners,
    latest_frame,
    mark_watching,
    subscribe_attempt,
    subscribe_run,
)
from backend.services.people.takeover_store import give_hand, hand_line, hand_of, holder, hurried, mark_hurry, take_hand

__all__ = [
    "API_SECONDS",
    "Kind",
    "LiveFrame",
    "Said",
    "Seen",
    "api_there",
    "append",
    "append_all",
    "broker_state",
    "close_listeners",
    "configure",
    "end_patience",
    "forget_heard",
    "forget_seen",
    "give_hand",
    "hand_line",
    "hand_of",
    "has_broker",
    "heard",
    "holder",
    "hurried",
    "is_forgotten",
    "keep_seen",
    "latest_frame",
    "latest_index",
    "latest_seen",
    "list_after",
    "mark_api",
    "mark_heard",
    "mark_hurry",
    "mark_watching",
    "next_said",
    "patience",
    "put_frame",
    "put_seen",
    "say",
    "subscribe_attempt",
    "subscribe_line",
    "subscribe_run",
    "take_hand",
    "watchers",
]
