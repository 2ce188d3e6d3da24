"""Clients of the Model Context Protocol's own SDK act through the server, started as a client starts it."""

import asyncio
import base64
import json
import sys
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, ImageContent, TextContent
from PIL import Image

from deskarena.client import Client as ServiceClient
from deskarena.mcp_server import LOST, main
from tests.integration.outside.conftest import OutsideService

ROOT_ARGUMENTS = ["-m", "deskarena.mcp_server", "--benchmark", "notes", "--provider", "fake", "--screen", "640x480"]
ENDED = {"task": "notes/say-hello", "score": 1.0, "solved": True, "ended_by": "done", "steps": 3}

Play = Callable[[Client], Awaitable[None]]


def play(service: OutsideService, actions: Play, *more: str) -> None:
    """Connects a client to a server of its own, and ends both."""
    parameters = StdioServerParameters(
        command=sys.executable, args=[*ROOT_ARGUMENTS, "--server", service.url, "--patience", "120", *more]
    )

    async def connect() -> None:
        async with Client(parameters, read_timeout_seconds=180.0) as client:
            await actions(client)

    asyncio.run(connect())


def texts(result: CallToolResult) -> dict[str, Any]:
    """The JSON of a result's text."""
    assert not result.is_error, result.content
    assert isinstance(result.content[0], TextContent)
    values: dict[str, Any] = json.loads(result.content[0].text)
    return values


def error(result: CallToolResult) -> str:
    """The model's text of a result that is an error."""
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


def size(result: CallToolResult) -> tuple[int, int]:
    """Width and height of a result's picture."""
    picture = result.content[-1]
    assert isinstance(picture, ImageContent)
    return Image.open(BytesIO(base64.b64decode(picture.data))).size


def newest_run(service: OutsideService) -> dict[str, Any]:
    """The last run that was submitted."""
    client: ServiceClient = service.client()
    run: dict[str, Any] = client.get("/runs", limit=1)["items"][0]
    return run


class TestServer:
    def test_a_client_solves_a_task(self, service: OutsideService) -> None:
        async def actions(client: Client) -> None:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"start_task", "click", "type_text", "press_keys", "scroll", "drag", "done"} <= set(tools)
            assert tools["click"].input_schema["required"] == ["x", "y"]
            start = await client.call_tool("start_task", {"task": "notes/say-hello"})
            assert texts(start)["instruction"] == "Write hello into the note and save it."
            assert size(start) == (640, 480)
            step = await client.call_tool("type_text", {"text": "hello"})
            assert (texts(step)["step"], size(step)) == (1, (640, 480))
            await client.call_tool("press_keys", {"keys": ["ctrl", "s"]})
            assert texts(await client.call_tool("screenshot"))["step"] == 2
            verdict = texts(await client.call_tool("done"))
            assert {name: verdict[name] for name in ENDED} == ENDED

        play(service, actions, "--label", "client 1", "--run-name", "By MCP")
        run = newest_run(service)
        assert (run["name"], run["agent"], run["accepts_episodes"]) == ("By MCP", "remote", False)
        assert run["counts"]["scored"] == 1

    def test_mistakes_are_returned_and_do_not_end_the_task(self, service: OutsideService) -> None:
        async def actions(client: Client) -> None:
            assert "start_task" in error(await client.call_tool("click", {"x": 1, "y": 1}))
            assert "list_tasks" in error(await client.call_tool("start_task", {"task": "notes/no-such-task"}))
            keys = json.loads((await client.call_tool("list_tasks")).content[0].text)  # type: ignore[union-attr]
            assert "notes/say-hello" in keys
            texts(await client.call_tool("start_task", {"task": "notes/say-hello"}))
            assert error(await client.call_tool("click", {"x": "left"}))
            assert error(await client.call_tool("press_keys", {"keys": []}))
            assert texts(await client.call_tool("wait"))["step"] == 1

        play(service, actions)

    def test_single_task_needs_no_name(self, service: OutsideService) -> None:
        async def actions(client: Client) -> None:
            texts(await client.call_tool("start_task"))
            assert texts(await client.call_tool("infeasible"))["ended_by"] == "infeasible"
            assert "start_task" in error(await client.call_tool("done"))

        play(service, actions, "--task", "notes/say-hello")

    def test_disconnecting_client_closes_the_run(self, service: OutsideService) -> None:
        async def actions(client: Client) -> None:
            texts(await client.call_tool("start_task"))

        play(service, actions, "--task", "notes/say-hello")
        assert not newest_run(service)["accepts_episodes"]

    def test_a_lost_desktop_is_replaced_and_reported(self, service: OutsideService) -> None:
        async def actions(client: Client) -> None:
            await client.call_tool("start_task")
            service.worker.provider.opened[-1].fake.die("killed by the test")
            step = await client.call_tool("type_text", {"text": "hello"})
            assert not step.is_error
            told, observed, _ = step.content
            assert isinstance(told, TextContent)
            assert isinstance(observed, TextContent)
            assert (told.text, json.loads(observed.text)["step"]) == (LOST, 0)

        play(service, actions, "--task", "notes/say-hello")


class TestOptions:
    @pytest.mark.parametrize("screen", ["large", "640", "640x"])
    def test_a_screen_must_be_a_size(self, screen: str) -> None:
        with pytest.raises(SystemExit) as ended:
            main(["--screen", screen])
        assert ended.value.code == 2
