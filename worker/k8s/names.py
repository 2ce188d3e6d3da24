"""Labels and annotations of what we make in a cluster, and times as they are written there."""

import datetime as dt

NAME = "app.kubernetes.io/name"
OWNER, SLOT, WORKER, DEADLINE, FENCE = (
    f"deskarena.dev/{name}" for name in ("owner", "slot", "worker", "deadline", "fence")
)


def moment(seconds: float) -> str:
    """Seconds since 1970 as RFC 3339."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float | None:
    """The other way; None for what is no such moment."""
    try:
        return dt.datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
