"""Parses a request's command; shared by several routes."""

import os
import shlex

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, Machine
from guest_server.protocol.params import RequestParams
from guest_server.windows import command_line

_WINDOWS = os.name == "nt"
_HOME = ("~/", "~\\") if _WINDOWS else ("~/",)


def read_command(params: RequestParams, machine: Machine) -> CommandSpec:
    """`{command, shell}` as in OSWorld's tasks.

    A string without `shell` is split into words; a list with `shell` is joined into one line; `~/` at the start of a
    word is the home.

    Raises:
        GuestError: it is empty, or has an unclosed quote.
    """
    command = params.command()
    if params.flag("shell"):
        return CommandSpec([_line(command)], shell=True)  # noqa: S604 - the shell is what the caller asks for.
    words = command if isinstance(command, list) else _split(command)
    home = str(machine.home)
    return CommandSpec([home + word[1:] if word == "~" or word.startswith(_HOME) else word for word in words])


def _line(command: str | list[str]) -> str:
    if isinstance(command, str):
        return command
    if len(command) == 1:
        return command[0]
    return command_line.join(command) if _WINDOWS else shlex.join(command)


def _split(command: str) -> list[str]:
    try:
        return command_line.split_words(command) if _WINDOWS else shlex.split(command)
    except ValueError as error:
        raise GuestError("bad_request", f"'command' cannot be split into words: {error}") from None
