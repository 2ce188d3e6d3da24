"""Parsing and validation of a desktop's replies, which are not trusted."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from backend.domain.errors import GuestLost
from backend.domain.machines.health import DesktopHealth, DiskRoom, DiskSpace
from backend.domain.model.trajectory import Frame, Interaction, Window
from backend.domain.ports.desktop import ExecResult, Probe
from worker.desktops.wire import Reply

_MOST_WINDOWS = 1000
_MOST_INTERACTIONS = 1000
_LONGEST_TITLE = 1000
_CUT = "\n[truncated]"


def frame(reply: Reply) -> Frame:
    """A picture; its size is read from the picture itself.

    Raises:
        GuestLost: It is not a valid picture.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(reply.data), formats=("JPEG", "PNG")) as image:
            width, height = image.size
            media_type = Image.MIME[image.format or ""]
    except (OSError, ValueError, SyntaxError, KeyError, Image.DecompressionBombError):
        raise GuestLost("the desktop's reply is not a valid picture", code="guest_protocol_error") from None
    return Frame(data=reply.data, media_type=media_type, width=width, height=height)


def exec_result(value: Mapping[str, Any], returncode: str = "returncode") -> ExecResult:
    """Result of a command.

    Raises:
        GuestLost: The reply has another form.
    """
    truncated = value.get("truncated") is True
    try:
        output = f"{value['output']}{_CUT if truncated else ''}"
        return ExecResult(returncode=value[returncode], output=output, error=value["error"], truncated=truncated)
    except (KeyError, ValidationError) as error:
        raise _other_form("a command's result", error) from None


def probe(value: Mapping[str, Any]) -> Probe:
    """The guest's description of itself.

    Raises:
        GuestLost: the reply has another form.
    """
    try:
        size = {name: value["screen"][name] for name in ("width", "height")}
        return Probe.model_validate(
            {name: value[name] for name in ("api", "platform", "capabilities", "clock")} | {"screen": size}
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise _other_form("the probe", error) from None


def health(value: Mapping[str, Any]) -> DesktopHealth:
    """Health facts of the desktop.

    Raises:
        GuestLost: the reply has another form.
    """
    try:
        return DesktopHealth.model_validate(value)
    except ValidationError as error:
        raise _other_form("the facts of its health", error) from None


def disks(value: Mapping[str, Any]) -> Sequence[DiskRoom]:
    """Free space of the desktop's disks.

    Raises:
        GuestLost: the reply has another form.
    """
    try:
        return DiskSpace.model_validate(value).disks
    except ValidationError as error:
        raise _other_form("the free space of its disks", error) from None


def windows(value: Mapping[str, Any]) -> list[Window]:
    """The windows, bottom to top.

    Raises:
        GuestLost: The reply has another form, or far too many windows.
    """
    entries = value.get("windows")
    if not isinstance(entries, list) or len(entries) > _MOST_WINDOWS:
        raise GuestLost("the desktop's list of windows is invalid or too long", code="guest_protocol_error")
    try:
        return [_window(item) for item in entries]
    except (KeyError, TypeError, ValidationError) as error:
        raise _other_form("a window", error) from None


def _window(item: Mapping[str, Any]) -> Window:
    numbers = {name: item[name] for name in ("x", "y", "width", "height", "active", "pid")}
    texts = {name: str(item[name])[:_LONGEST_TITLE] for name in ("title", "wm_class")}
    return Window.model_validate(numbers | texts)


def interactions(value: Mapping[str, Any]) -> list[Interaction]:
    """Entries of the mouse and keyboard log, oldest first.

    Raises:
        GuestLost: The reply has another form, or too many entries.
    """
    entries = value.get("interactions")
    if not isinstance(entries, list) or len(entries) > _MOST_INTERACTIONS:
        raise GuestLost("the desktop's log of interactions is invalid or too long", code="guest_protocol_error")
    try:
        return [Interaction.model_validate(item) for item in entries]
    except ValidationError as error:
        raise _other_form("an interaction", error) from None


def text(value: Mapping[str, Any], name: str) -> str:
    """A field that must be text.

    Raises:
        GuestLost: It is not.
    """
    field = value.get(name)
    if not isinstance(field, str):
        raise GuestLost(f"the desktop's reply has no text field '{name}'", code="guest_protocol_error")
    return field


def number(value: Mapping[str, Any], name: str) -> float:
    """A field that must be a number.

    Raises:
        GuestLost: It is not.
    """
    field = value.get(name)
    if isinstance(field, bool) or not isinstance(field, int | float):
        raise GuestLost(f"the desktop's reply has no number field '{name}'", code="guest_protocol_error")
    return float(field)


def _other_form(route: str, error: Exception) -> GuestLost:
    return GuestLost(
        f"the desktop's reply does not have the form of {route}: {str(error)[:300]}", code="guest_protocol_error"
    )
