"""Every size and time limit of the guest server, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

_PREFIX = "DESKARENA_LIMIT_"


@dataclass(frozen=True)
class GuestLimits:
    """Sizes are bytes, times seconds. Each can be set with DESKARENA_LIMIT_<NAME> in the session's environment.

    Attributes:
        json_body: a JSON or form request.
        upload: an uploaded or downloaded file.
        file: a file that is read.
        output: each of a command's two streams; the rest is discarded.
        tree_nodes: entries of a directory listing.
        tree_depth: folders of a directory listing.
        text: characters of one `type` event, and of the clipboard.
        events: input events of one request.
        a11y_nodes, a11y_depth, a11y_children: of the accessibility tree; the rest is truncated.
        a11y_seconds: for walking the tree; the rest is truncated.
        command_seconds, python_seconds, script_seconds: default deadlines.
        longest_seconds: maximum of any deadline.
        blocking_seconds: for one request to the display server.
        input_seconds: for performing input events, beyond the duration of gestures and texts.
        start_seconds: for each program of the desktop to become ready.
        window_seconds: default for waiting for a window.
        frames_per_second: of a stream.
        message: one websocket message.
        lines: maximum waiting tunnels of the worker.
        line_seconds: maximum wait of a program for a tunnel.
    """

    json_body: int = 16 * 2**20
    upload: int = 2**30
    file: int = 2**30
    output: int = 4 * 2**20
    tree_nodes: int = 50_000
    tree_depth: int = 64
    text: int = 100_000
    events: int = 1_000
    a11y_nodes: int = 20_000
    a11y_depth: int = 50
    a11y_children: int = 1_024
    a11y_seconds: float = 20.0
    command_seconds: float = 120.0
    python_seconds: float = 30.0
    script_seconds: float = 100.0
    longest_seconds: float = 1_800.0
    blocking_seconds: float = 10.0
    input_seconds: float = 20.0
    start_seconds: float = 15.0
    window_seconds: float = 60.0
    frames_per_second: float = 30.0
    message: int = 4 * 2**20
    lines: int = 32
    line_seconds: float = 15.0


def limits_from(environment: Mapping[str, str]) -> GuestLimits:
    """The defaults, with settings of the environment.

    Raises:
        ValueError: a value is not a positive number, or the name is unknown.
    """
    known = {_PREFIX + field.name.upper(): field for field in fields(GuestLimits)}
    changes: dict[str, float | int] = {}
    for name, text in environment.items():
        if not name.startswith(_PREFIX):
            continue
        if name not in known:
            raise ValueError(f"{name} is not a limit; known: {', '.join(sorted(known))}")
        field = known[name]
        value = int(text) if isinstance(field.default, int) else float(text)
        if value <= 0:
            raise ValueError(f"{name} must be positive, not {text}")
        changes[field.name] = value
    return replace(GuestLimits(), **changes)  # type: ignore[arg-type]
