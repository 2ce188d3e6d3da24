"""The keyboard of agents' code: the library in their process, the socket, and what the session performs."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from guest_server.environment import LIBRARY
from guest_server.keyboard.pyautogui_keys import NAME
from guest_server.keyboard.socket_server import serve_keyboard
from guest_server.protocol.errors import GuestError
from guest_server.protocol.input_events import Event, Key, Type
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Machine

# As much of pyautogui 0.9 as its keyboard needs: the real one cannot be imported without a display.
PYAUTOGUI = """
from pyautogui import platform as platformModule
def _genericPyAutoGUIChecks(function):
    return function
def failSafeCheck():
    pass
def press(key):
    platformModule._keyDown(key)
    platformModule._keyUp(key)
def hotkey(*args, **kwargs):
    for key in args:
        platformModule._keyDown(key)
    for key in reversed(args):
        platformModule._keyUp(key)
def typewrite(message, interval=0.0, logScreenshot=None, _pause=True):
    for char in message:
        press(char)
write = typewrite
"""
PLATFORM = """
def _keyDown(key):
    print("own", key)
def _keyUp(key):
    print("own", key)
"""


class RecordedInput:
    """Takes what the session would perform."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def check(self, events: Sequence[Event]) -> None:
        if Type("refused") in events:
            raise GuestError("failed", "another keyboard group is active")

    def perform(self, events: Sequence[Event]) -> None:
        self.events += events


def machine(device: RecordedInput, path: Path | None) -> Machine:
    async def within(_: float, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    return cast("Machine", SimpleNamespace(limits=GuestLimits(), input=device, within=within, keyboard_socket=path))


def run_code(code: str, runtime: Path, device: RecordedInput, *, served: bool = True) -> tuple[str, str]:
    """Output and errors of code in a process of its own, beside a session's keyboard."""
    package = runtime / "site" / "pyautogui"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PYAUTOGUI)
    (package / "platform.py").write_text(PLATFORM)
    environment = {"PYTHONPATH": f"{package.parent}:{LIBRARY}", "XDG_RUNTIME_DIR": str(runtime)}

    async def run() -> tuple[bytes, bytes]:
        server = await serve_keyboard(machine(device, runtime / NAME if served else None))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            return await process.communicate()
        finally:
            if server is not None:
                server.close()

    output, error = asyncio.run(asyncio.wait_for(run(), 30.0))
    return output.decode(), error.decode()


class TestTyping:
    def test_a_text_arrives_as_by_the_api(self, tmp_path: Path) -> None:
        device = RecordedInput()
        code = "import pyautogui\nfor word in ('a<b', 'é €'):\n    pyautogui.write(f'{word}\\n')"
        assert run_code(code, tmp_path, device) == ("", "")
        assert device.events == [Type("a<b\n"), Type("é €\n")]

    def test_keys_and_characters_are_pressed(self, tmp_path: Path) -> None:
        device = RecordedInput()
        code = "from pyautogui import press\npress('enter')\npress('é')"
        assert run_code(code, tmp_path, device) == ("", "")
        keys = [(event.key, event.down) for event in device.events if isinstance(event, Key)]
        assert keys == [("enter", True), ("enter", False), ("é", True), ("é", False)]

    @pytest.mark.parametrize(
        "call", ["hotkey('ctrl', 's')", "shortcut('ctrl', 's', interval=0.001)", "hotkey(keys=['ctrl', 's'])"]
    )
    def test_shortcut_presses_and_releases_in_order(self, tmp_path: Path, call: str) -> None:
        device = RecordedInput()
        assert run_code(f"import pyautogui\npyautogui.{call}", tmp_path, device) == ("", "")
        keys = [(event.key, event.down) for event in device.events if isinstance(event, Key)]
        assert keys == [("ctrl", True), ("s", True), ("s", False), ("ctrl", False)]

    def test_a_list_of_keys_and_an_interval(self, tmp_path: Path) -> None:
        device = RecordedInput()
        code = "import pyautogui\npyautogui.typewrite(['a', 'up'])\npyautogui.write('xy', interval=0.001)"
        assert run_code(code, tmp_path, device) == ("", "")
        assert [event for event in device.events if isinstance(event, Type)] == [Type("x"), Type("y")]
        assert Key("up", down=True) in device.events

    @pytest.mark.parametrize(
        ("call", "reported", "typed"),
        [
            ("press('hyperdrive')", "'hyperdrive'", []),
            ("hotkey()", "no keys", []),
            ("write('a\\x07b')", "control characters", [Type("ab")]),
            ("write('refused')", "'refused'", []),
        ],
    )
    def test_untypable_characters_are_reported(
        self, tmp_path: Path, call: str, reported: str, typed: list[Event]
    ) -> None:
        device = RecordedInput()
        output, error = run_code(f"import pyautogui\npyautogui.{call}\nprint('on')", tmp_path, device)
        assert (output, error.count("deskarena:"), device.events) == ("on\n", 1, typed)
        assert reported in error

    def test_without_a_session_pyautogui_stays_as_it_is(self, tmp_path: Path) -> None:
        assert run_code("import pyautogui\npyautogui.write('a')", tmp_path, RecordedInput(), served=False) == (
            "own a\nown a\n",
            "",
        )


class TestSocket:
    def test_takes_nothing_but_the_keyboard(self, tmp_path: Path) -> None:
        device = RecordedInput()
        wrong = (
            '[{"type": "click"}]',
            '[{"type": "press", "key": "a"}]',
            '[{"type": []}]',
            "[{}]",
            "{}",
            "7",
            "no",
        )

        async def ask() -> list[str]:
            server = await serve_keyboard(machine(device, tmp_path / NAME))
            assert server is not None
            async with server:
                reader, writer = await asyncio.open_unix_connection(tmp_path / NAME)
                writer.write("\n".join([*wrong, ""]).encode())
                answers = [json.loads(await reader.readline()) for _ in wrong]
                writer.close()
                return [answer.get("error", "") for answer in answers]

        assert asyncio.run(asyncio.wait_for(ask(), 20.0)) == ["bad_request"] * len(wrong)
        assert device.events == []
