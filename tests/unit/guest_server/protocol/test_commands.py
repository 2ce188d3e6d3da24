from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from guest_server.protocol.commands import read_command
from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, Machine
from guest_server.protocol.params import RequestParams
from tests.error_codes import raises_fields

MACHINE = cast("Machine", SimpleNamespace(home=Path("/home/user")))


class TestReadCommand:
    @pytest.mark.parametrize(
        ("given", "spec"),
        [
            ({"command": "ls '-l x' ~/a"}, CommandSpec(["ls", "-l x", "/home/user/a"])),
            ({"command": ["cat", "~", "~x", "a~/b"]}, CommandSpec(["cat", "/home/user", "~x", "a~/b"])),
            ({"command": "a | b", "shell": True}, CommandSpec(["a | b"], shell=True)),  # noqa: S604
            ({"command": ["a | b"], "shell": True}, CommandSpec(["a | b"], shell=True)),  # noqa: S604
            ({"command": ["echo", "a b"], "shell": "true"}, CommandSpec(["echo 'a b'"], shell=True)),  # noqa: S604
        ],
    )
    def test_command_forms_are_parsed(self, given: dict[str, Any], spec: CommandSpec) -> None:
        assert read_command(RequestParams(given), MACHINE) == spec

    def test_an_open_quote_is_reported(self) -> None:
        with raises_fields(GuestError, kind="bad_request", mentions="'command'"):
            read_command(RequestParams({"command": "echo 'a"}), MACHINE)
