"""AT-SPI requests to accessible objects. For helper processes only: they may crash or hang."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402 - the version must be chosen first.

__all__ = ["Atspi", "HungError", "applications", "ask", "children_of", "prepare", "states_of"]

T = TypeVar("T")

_CALL_MILLISECONDS = 3000
_NO_REPLY = ("timed out", "timeout", "NoReply", "no reply", "Timeout")


class HungError(Exception):
    """An application did not respond; its part of the tree is left out."""


def prepare(milliseconds: int = _CALL_MILLISECONDS) -> str:
    """Connects to the accessibility bus; returns what is wrong, or empty.

    Args:
        milliseconds: time limit of an application per request.
    """
    warnings.simplefilter("ignore")  # Old and new names of AT-SPI calls differ between versions.
    if Atspi.init() not in {0, 1}:
        return "the accessibility bus does not answer"
    Atspi.set_timeout(milliseconds, milliseconds)
    return ""


def ask(call: Callable[..., T], *args: Any) -> T | None:
    """Sends one request; None if the object is gone meanwhile."""
    try:
        return call(*args)
    except GLib.Error as error:
        if any(word in str(error) for word in _NO_REPLY):
            raise HungError(str(error)) from None
        return None


def children_of(node: Any, most: int) -> Iterator[Any]:
    """Its children, up to a limit."""
    for index in range(min(ask(node.get_child_count) or 0, most)):
        child = ask(node.get_child_at_index, index)
        if child is not None:
            yield child


def applications(most: int) -> list[Any]:
    """All applications with accessible objects, including hanging ones, because only the registry is queried."""
    try:
        return list(children_of(Atspi.get_desktop(0), most))
    except HungError:
        return []


def states_of(node: Any) -> set[str]:
    """Names of its states."""
    states = ask(node.get_state_set)
    if states is None:
        return set()
    return {state.value_nick for state in states.get_states()} - {"invalid", "last-defined"}
