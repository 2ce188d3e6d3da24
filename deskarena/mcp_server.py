"""A server of the Model Context Protocol: any of its clients acts on desktops of a Deskarena service.

`python -m deskarena.mcp_server --benchmark starter` speaks the protocol on standard input and output. What it does is
one open run; each `start_task` is an episode of it, with steps, verdict and replay like every other.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import wraps
from threading import Lock
from typing import Any, Literal

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from deskarena.client import Client
from deskarena.episode import RESULT, TEXTS, Episode, Observation, OpenRun, run_request
from deskarena.errors import AttemptLost, EpisodeLost, NotRunnable, ServiceError

INSTRUCTIONS = """You operate a desktop. Call start_task; its result has the instruction and a picture of the screen.
Each further call carries out one action and returns the screen after it. Coordinates are pixels of that picture's
screen, from the top left. Call done when the task is complete, or infeasible if it cannot be done; both end the task
and return its score."""
LOST = "The desktop was lost, which is not your doing. The task begins again on this one."

Content = list[str | Image]


class DesktopTools:
    """The tools, and the episode that they act in. Calls are carried out one after the other."""

    def __init__(self, run: OpenRun, tasks: Sequence[str] = ()) -> None:
        """Sends no request.

        Args:
            run: its episodes are those of the tools.
            tasks: keys that may be started; empty = all of the run's benchmark.
        """
        self._run = run
        self._tasks = list(tasks)
        self._episode: Episode | None = None
        self._observation: Observation | None = None
        self._lock = Lock()

    def all(self) -> list[Callable[..., Content]]:
        """The tools, in the order in which clients list them."""
        return [
            self.list_tasks, self.start_task, self.screenshot, self.click, self.move, self.drag, self.scroll,
            self.type_text, self.press_keys, self.wait, self.done, self.infeasible,
        ]  # fmt: skip

    def list_tasks(self) -> Content:
        """List the keys of the tasks that can be started."""
        with self._lock:
            return [json.dumps(self._keys())]

    def start_task(self, task: str = "") -> Content:
        """Prepare a pristine desktop for a task and return its instruction and screen. Ends the task before it.

        Args:
            task: its key, as list_tasks gives it; may be left out if there is only one.
        """
        with self._lock:
            keys = self._keys()
            if not task and len(keys) > 1:
                raise ToolError("name the task to start; list_tasks lists the keys")
            if task and task not in keys:
                raise ToolError(f"there is no task {task!r} here; list_tasks lists the keys")
            self._leave()
            self._episode = self._run.episode(task or keys[0])
            self._observation = self._episode.begin()
            return self._content(self._observation, first=True)

    def screenshot(self) -> Content:
        """Return the screen as it was after the last action, without acting. To see it later, call wait first."""
        with self._lock:
            return self._content(self._now()[1])

    def click(
        self, x: int, y: int, button: Literal["left", "right", "middle"] = "left", clicks: Literal[1, 2, 3] = 1
    ) -> Content:
        """Click at a point. clicks=2 is a double click."""
        return self._act({"type": "CLICK", "x": x, "y": y, "button": button, "clicks": clicks})

    def move(self, x: int, y: int) -> Content:
        """Move the pointer to a point."""
        return self._act({"type": "MOVE_TO", "x": x, "y": y})

    def drag(self, start_x: int, start_y: int, end_x: int, end_y: int) -> Content:
        """Press the left button at one point and release it at another."""
        return self._act({"type": "MOVE_TO", "x": start_x, "y": start_y}, {"type": "DRAG_TO", "x": end_x, "y": end_y})

    def scroll(self, x: int, y: int, up: int = 0, right: int = 0) -> Content:
        """Turn the mouse wheel over a point, by clicks of the wheel. Negative numbers scroll down or left."""
        return self._act({"type": "MOVE_TO", "x": x, "y": y}, {"type": "SCROLL", "dy": up, "dx": right})

    def type_text(self, text: str) -> Content:
        """Type text where the keyboard's focus is. A newline presses Enter."""
        return self._act({"type": "TYPING", "text": text})

    def press_keys(self, keys: list[str]) -> Content:
        """Press one key, or several at the same time, for example ["enter"] or ["ctrl", "s"]."""
        if not keys:
            raise ToolError("name at least one key")
        return self._act({"type": "PRESS" if len(keys) == 1 else "HOTKEY", "keys": keys})

    def wait(self) -> Content:
        """Do nothing for a moment and return the screen. Uses a step."""
        return self._act({"type": "WAIT"})

    def done(self) -> Content:
        """End the task: it is complete. Returns its score, from 0 to 1."""
        return self._act({"type": "DONE"})

    def infeasible(self) -> Content:
        """End the task: it cannot be done. Returns its score, from 0 to 1."""
        return self._act({"type": "FAIL"})

    def close(self) -> None:
        """Ends the running episode and the run. Safe to call twice."""
        with self._lock:
            self._leave()
            self._run.close()

    def _act(self, *actions: Mapping[str, Any]) -> Content:
        with self._lock:
            episode, _ = self._now()
            try:
                observation = episode.act({"actions": [dict(action) for action in actions]})
                verdict = episode.finish() if observation is None else {}
            except AttemptLost:
                self._observation = episode.begin()
                return [LOST, *self._content(self._observation, first=True)]
            if observation is not None:
                self._observation = observation
                return self._content(observation)
            self._leave()
            return [json.dumps({name: verdict[name] for name in ("task", *RESULT)})]

    def _now(self) -> tuple[Episode, Observation]:
        if self._episode is None or self._observation is None:
            raise ToolError("no task is running: call start_task")
        return self._episode, self._observation

    def _keys(self) -> list[str]:
        if not self._tasks:
            path = f"/benchmarks/{self._run.benchmark}/tasks"
            self._tasks = [str(each["task"]) for each in self._run.client.items(path)]
        return self._tasks

    def _leave(self) -> None:
        if self._episode is not None:
            self._episode.leave()
            self._episode.close()
        self._episode = self._observation = None

    def _content(self, observation: Observation, *, first: bool = False) -> Content:
        details = observation.details
        names = ("instruction", "max_steps", *TEXTS) if first else TEXTS
        texts = {"step": observation.index} | {name: details[name] for name in names if details.get(name)}
        picture = observation.picture
        kind = observation.media_type.rpartition("/")[2]
        return [json.dumps(texts, ensure_ascii=False), *([Image(data=picture, format=kind)] if picture else [])]


def build_server(tools: DesktopTools) -> MCPServer[Any]:
    """A server that offers the tools. Refusals of the service are returned to the model as errors."""
    server: MCPServer[Any] = MCPServer("deskarena", instructions=INSTRUCTIONS, log_level="WARNING")
    for tool in tools.all():
        reads = tool.__name__ in {"list_tasks", "screenshot"}
        server.add_tool(_reporting(tool), annotations=ToolAnnotations(read_only_hint=reads), structured_output=False)
    return server


def _reporting(tool: Callable[..., Content]) -> Callable[..., Content]:
    """The tool, whose foreseen errors are its answer."""

    @wraps(tool)
    def call(*arguments: Any, **named: Any) -> Content:
        try:
            return tool(*arguments, **named)
        except (ServiceError, NotRunnable, EpisodeLost) as error:
            raise ToolError(str(error)) from error

    return call


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves one client on standard input and output until it closes them or sends SIGTERM."""
    options = _options(arguments)
    request = run_request(
        options.benchmark,
        run_name=options.run_name,
        label=options.label,
        provider=options.provider,
        observation=options.observation,
        screen_size=options.screen,
        max_steps=options.max_steps,
        max_seconds=options.max_seconds,
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    run = OpenRun(Client(options.server), request, patience=options.patience, own=True)
    with closing(DesktopTools(run, options.task)) as tools:
        build_server(tools).run("stdio")


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected WIDTHxHEIGHT, such as 1280x800, got {text!r}")
    return int(width), int(height)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m deskarena.mcp_server", description="Serve desktops by MCP.")
    parser.add_argument("--server", help="address of the service (default: DESKARENA_SERVER, else this machine)")
    parser.add_argument("--benchmark", default="starter", help="name of the benchmark (default: %(default)s)")
    parser.add_argument("--task", action="append", default=[], help="key of a task; repeatable (default: all)")
    parser.add_argument("--provider", default="local", help="kind of desktop (default: %(default)s)")
    parser.add_argument("--observation", default="screenshot", help="what the agent sees (default: %(default)s)")
    parser.add_argument("--screen", type=_size, default="1280x800", help="WIDTHxHEIGHT (default: %(default)s)")
    parser.add_argument("--max-steps", type=int, default=100, help="actions of a task (default: %(default)s)")
    parser.add_argument("--max-seconds", type=float, default=1800.0, help="time of a task (default: %(default)g)")
    parser.add_argument("--label", default="mcp", help="name and version of the agent (default: %(default)s)")
    parser.add_argument("--run-name", default="", help="name of the run")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds to wait for a desktop or a verdict")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
