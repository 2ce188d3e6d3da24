"""Benchmarks of a Deskarena service as benchmarks of the CUBE standard, so that its harness drives them.

`DeskarenaBenchmarkConfig(benchmark="starter")` has the tasks of that benchmark. Its `make` opens a run; each task that
is reset is an episode of it, with steps, verdict and replay like every other. Needs Python 3.12 and
`pip install deskarena[cube]`. The token comes from DESKARENA_TOKEN only: configurations are stored by harnesses.
"""

from collections.abc import Mapping
from functools import cache
from io import BytesIO
from typing import Any, ClassVar, Literal

from cube.benchmark import Benchmark, BenchmarkConfig, BenchmarkMetadata, ResetIsolation
from cube.container import Container
from cube.core import Action, AgentStop, Content, ImageContent, Observation
from cube.task import RuntimeContext, Task, TaskConfig, TaskMetadata
from cube.tool import Tool, ToolConfig, tool_action
from PIL import Image

from deskarena import episode as episodes
from deskarena.client import Client
from deskarena.episode import RESULT, TEXTS, Episode, OpenRun
from deskarena.episode import Observation as Observed

RUN_ID = "deskarena_run"
"""Key of the open run's id in the runtime context, which other processes get."""


class DesktopTool(Tool):
    """A desktop's mouse and keyboard. Each action is one step of the episode; its result has the screen after it."""

    def __init__(self) -> None:
        """Has no episode until `begin`."""
        self.episode: Episode | None = None
        self._observed: Observed | None = None
        self._says_done = False

    def begin(self, episode: Episode) -> Observed:
        """Waits for the episode's desktop and acts on it from now on."""
        self.episode, self._says_done = episode, False
        self._observed = episode.begin()
        return self._observed

    @property
    def has_ended(self) -> bool:
        """Whether the episode takes no further action: it was ended, or its budget is used up."""
        return self._observed is None

    def execute_action(self, action: Action) -> Observation:
        """Like every tool's; the screen follows the result."""
        return super().execute_action(action) + self.screen(action.id)

    async def async_execute_action(self, action: Action) -> Observation:
        """Like every tool's; the screen follows the result."""
        return await super().async_execute_action(action) + self.screen(action.id)

    def screen(self, call: str | None = None) -> Observation:
        """The newest observation: its texts, its picture. Empty once the episode has ended."""
        if self._observed is None:
            return Observation()
        contents: list[Content] = [
            Content.from_data(self._observed.details[name], name=name, tool_call_id=call)
            for name in TEXTS
            if self._observed.details.get(name)
        ]
        if self._observed.picture:
            picture = Image.open(BytesIO(self._observed.picture))
            picture.load()
            contents.append(ImageContent(data=picture, name="screen", tool_call_id=call))
        return Observation(contents=contents)

    def verdict(self) -> Mapping[str, Any]:
        """Ends the agent's part and waits for the verdict.

        Raises:
            EpisodeLost: the infrastructure failed, so there is none; this is never a score of 0.
        """
        if self.episode is None:
            raise RuntimeError("call reset() first")
        if self._says_done:
            self._act({"type": "DONE"})
        self._observed = None
        return self.episode.finish()

    def close(self) -> None:
        """Ends a running episode. Safe to call twice."""
        if self.episode is not None:
            self.episode.leave()
            self.episode.close()
        self.episode = self._observed = None

    @tool_action
    def click(self, x: int, y: int, button: Literal["left", "right", "middle"] = "left", clicks: int = 1) -> str:
        """Click at a point.

        Args:
            x: Pixels from the left edge of the screen.
            y: Pixels from its top.
            button: left, right or middle.
            clicks: 1, 2 for a double click, or 3.
        """
        return self._act({"type": "CLICK", "x": x, "y": y, "button": button, "clicks": clicks})

    @tool_action
    def move(self, x: int, y: int) -> str:
        """Move the pointer to a point.

        Args:
            x: Pixels from the left edge of the screen.
            y: Pixels from its top.
        """
        return self._act({"type": "MOVE_TO", "x": x, "y": y})

    @tool_action
    def drag(self, start_x: int, start_y: int, end_x: int, end_y: int) -> str:
        """Press the left button at one point and release it at another.

        Args:
            start_x: Where to press: pixels from the left edge of the screen.
            start_y: Where to press: pixels from its top.
            end_x: Where to release: pixels from the left edge.
            end_y: Where to release: pixels from its top.
        """
        return self._act({"type": "MOVE_TO", "x": start_x, "y": start_y}, {"type": "DRAG_TO", "x": end_x, "y": end_y})

    @tool_action
    def scroll(self, x: int, y: int, up: int = 0, right: int = 0) -> str:
        """Turn the mouse wheel over a point.

        Args:
            x: Pixels from the left edge of the screen.
            y: Pixels from its top.
            up: Clicks of the wheel; negative numbers scroll down.
            right: Clicks of the wheel; negative numbers scroll left.
        """
        return self._act({"type": "MOVE_TO", "x": x, "y": y}, {"type": "SCROLL", "dy": up, "dx": right})

    @tool_action
    def type_text(self, text: str) -> str:
        """Type text where the keyboard's focus is.

        Args:
            text: The text; a newline presses Enter.
        """
        return self._act({"type": "TYPING", "text": text})

    @tool_action
    def press_keys(self, keys: list[str]) -> str:
        """Press one key, or several at the same time.

        Args:
            keys: Their names, for example ["enter"] or ["ctrl", "s"].
        """
        if not keys:
            raise ValueError("name at least one key")
        return self._act({"type": "PRESS" if len(keys) == 1 else "HOTKEY", "keys": list(keys)})

    @tool_action
    def wait(self) -> str:
        """Do nothing for a moment and look at the screen again."""
        return self._act({"type": "WAIT"})

    @tool_action
    def infeasible(self) -> str:
        """Stop: the task cannot be done."""
        self._act({"type": "FAIL"})
        raise AgentStop

    @tool_action
    def final_step(self) -> str:
        """Stop: the task is complete."""
        self._says_done = not self.has_ended
        raise AgentStop

    def _act(self, *actions: Mapping[str, Any]) -> str:
        if self.episode is None or self._observed is None:
            raise RuntimeError("the episode has ended")
        self._observed = self.episode.act({"actions": [dict(action) for action in actions]})
        return "Done." if self._observed is not None else "The episode has ended."


class DesktopToolConfig(ToolConfig):
    """Has no options: what an agent sees and may do is the benchmark's configuration."""

    def make(self, container: Container | None = None) -> DesktopTool:  # noqa: ARG002 - desktops are the service's
        """A tool without a desktop; the task gives it one."""
        return DesktopTool()


class DeskarenaTask(Task[TaskMetadata, DesktopTool]):
    """One episode per `reset`."""

    run_request: dict[str, Any]
    server: str | None
    patience: float

    def reset(self) -> tuple[Observation, dict[str, Any]]:
        """A pristine desktop: the task's instruction and screen.

        Raises:
            NotRunnable: the task cannot run there, or no desktop became free in time.
            EpisodeLost: the infrastructure failed.
        """
        self.tool.close()
        run_id = (self.runtime_context or {}).get(RUN_ID)
        run = OpenRun(Client(self.server), self.run_request, patience=self.patience, run_id=run_id)
        episode = run.episode(self.metadata.id)
        observed = self.tool.begin(episode)
        instruction = Observation.from_text(str(observed.details["instruction"]))
        return instruction + self.tool.screen(), {"run": run.id, "episode": episode.id}

    def finished(self, obs: Observation | None = None) -> bool:  # noqa: ARG002 - the service knows
        """Whether a budget of the run is used up."""
        return bool(self.tool.has_ended)

    def evaluate(self, obs: Observation | None = None) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        """Ends the episode; its score, from 0 to 1, and its verdict.

        Raises:
            EpisodeLost: the infrastructure failed, so there is no score.
        """
        verdict = self.tool.verdict()
        return float(verdict["score"]), {name: verdict[name] for name in ("task", *RESULT)}


class DeskarenaTaskConfig(TaskConfig[TaskMetadata]):
    """A task, and the run that its episodes belong to."""

    run_request: dict[str, Any]
    server: str | None = None
    patience: float = 600.0

    def make(self, runtime_context: RuntimeContext | None = None) -> DeskarenaTask:
        """The task. Without a runtime context each reset opens a run of its own."""
        return DeskarenaTask(
            metadata=self.metadata,
            tool_config=DesktopToolConfig(),
            runtime_context=runtime_context,
            run_request=self.run_request,
            server=self.server,
            patience=self.patience,
        )


class DeskarenaBenchmark(Benchmark["DeskarenaBenchmarkConfig"]):
    """An open run, from `setup` until `close`."""

    def _setup(self) -> None:
        self._run = OpenRun(self.config.client(), self.config.run_request(), own=True)
        self._runtime_context = {RUN_ID: self._run.open()}

    def close(self) -> None:
        """Takes no further episodes into the run. Safe to call twice."""
        self._run.close()


class DeskarenaBenchmarkConfig(BenchmarkConfig[TaskMetadata]):
    """A benchmark of a service, and how it is run.

    Attributes:
        benchmark: its name on the service.
        server: address of the service; None = DESKARENA_SERVER, else this machine.
        provider: kind of desktop.
        observation: what the agent sees.
        screen: width and height in pixels.
        max_steps, max_seconds: of an episode.
        label: name and version of the agent, which identify it on leaderboards.
        run_name: name of the run.
        patience: seconds to wait for a free desktop, and for a verdict.
    """

    task_config_class: ClassVar[type[TaskConfig]] = DeskarenaTaskConfig
    benchmark_class: ClassVar[type[Benchmark]] = DeskarenaBenchmark

    benchmark: str = "starter"
    server: str | None = None
    provider: str = "local"
    observation: str = "screenshot"
    screen: tuple[int, int] = (1280, 800)
    max_steps: int = 100
    max_seconds: float = 1800.0
    label: str = "cube"
    run_name: str = ""
    patience: float = 600.0

    @property
    def benchmark_metadata(self) -> BenchmarkMetadata:
        """The service's description of the benchmark."""
        return _benchmark(self.server, self.benchmark)

    @property
    def task_metadata(self) -> dict[str, TaskMetadata]:
        """The benchmark's tasks by their keys (`domain/name`)."""
        return _tasks(self.server, self.benchmark)

    def get_task_configs(self) -> Any:
        """One configuration per chosen task."""
        for metadata in self.tasks().values():
            yield DeskarenaTaskConfig(
                metadata=metadata, run_request=self.run_request(), server=self.server, patience=self.patience
            )

    def client(self) -> Client:
        """A client of the service."""
        return Client(self.server)

    def run_request(self) -> dict[str, Any]:
        """Body of POST /runs."""
        return episodes.run_request(
            self.benchmark,
            run_name=self.run_name,
            label=self.label,
            provider=self.provider,
            observation=self.observation,
            screen_size=self.screen,
            max_steps=self.max_steps,
            max_seconds=self.max_seconds,
        )


@cache
def _benchmark(server: str | None, name: str) -> BenchmarkMetadata:
    described = Client(server).get(f"/benchmarks/{name}")
    return BenchmarkMetadata(
        name=f"deskarena-{name}",
        version=str(described["task_set"]["version"]),
        description=str(described["title"] or name),
        num_tasks=len(_tasks(server, name)),
        tags=["desktop", "computer-use"],
        reset_isolation=ResetIsolation.SNAPSHOT,
    )


@cache
def _tasks(server: str | None, name: str) -> dict[str, TaskMetadata]:
    tasks = Client(server).items(f"/benchmarks/{name}/tasks")
    return {
        task["task"]: TaskMetadata(id=task["task"], abstract_description=str(task.get("instruction", ""))[:500])
        for task in tasks
    }
