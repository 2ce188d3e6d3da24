"""A Gymnasium environment on desktops of a Deskarena service: one episode of a task per `reset`.

Importing this registers it: `gymnasium.make("deskarena/Desktop-v0", benchmark=..., ...)`.
"""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from deskarena.client import Client
from deskarena.episode import RESULT, TEXTS, Episode, Observation, OpenRun, run_request
from deskarena.pictures import as_array

TYPES = (
    "CLICK", "MOVE_TO", "DRAG_TO", "MOUSE_DOWN", "MOUSE_UP", "SCROLL", "TYPING", "PRESS", "HOTKEY",
    "WAIT", "DONE", "FAIL",
)  # fmt: skip
BUTTONS = ("left", "middle", "right")
MODIFIERS = ("", "ctrl", "alt", "shift")
KEYS = (
    *"abcdefghijklmnopqrstuvwxyz0123456789",
    "enter", "tab", "space", "backspace", "delete", "esc", "up", "down", "left", "right", "home", "end", "pageup",
    "pagedown", *(f"f{number}" for number in range(1, 13)),
)  # fmt: skip
CHARACTERS = "".join(chr(code) for code in range(32, 127)) + "\n"
MOST_TEXT = 200
MOST_SCROLL = 10
_POINTING = frozenset({"CLICK", "MOVE_TO", "DRAG_TO"})


def action_space_of(width: int, height: int) -> spaces.Dict:
    """The actions on a screen of that size in pixels; the environment's class documents them."""
    return spaces.Dict(
        {
            "type": spaces.Discrete(len(TYPES)),
            "x": spaces.Discrete(width),
            "y": spaces.Discrete(height),
            "button": spaces.Discrete(len(BUTTONS)),
            "clicks": spaces.Discrete(3),
            "scroll": spaces.Discrete(2 * MOST_SCROLL + 1),
            "modifier": spaces.Discrete(len(MODIFIERS)),
            "key": spaces.Discrete(len(KEYS)),
            "text": spaces.Text(MOST_TEXT, min_length=0, charset=CHARACTERS),
        }
    )


def observation_space_of(width: int, height: int, max_steps: int) -> spaces.Dict:
    """`screenshot`: uint8 RGB of shape (height, width, 3); `step`: the number of actions so far."""
    return spaces.Dict(
        {
            "screenshot": spaces.Box(0, 255, (height, width, 3), np.uint8),
            "step": spaces.Box(0, max_steps, (), np.int64),
        }
    )


class DeskarenaEnv(gymnasium.Env[dict[str, Any], Any]):
    """Observations are the screen's pixels and the step's number; the task's text is `info["instruction"]`.

    An action is an element of `action_space` (which of `TYPES`, where, which button or key, which text), or one that
    the run's own action space reads: a text, or a `computer_13` object with `action_type`. The reward is 0 until the
    episode ends, then the task's score. `terminated`: the agent said DONE or FAIL; `truncated`: a budget was used up.

    `info` has `instruction`, `task`, `note` (why the last action could not be carried out), `accessibility_tree`,
    `terminal`, `clipboard`, `windows` (None where the run does not show them), and at the end `result`.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(  # noqa: PLR0913 - what a run is made of
        self,
        benchmark: str = "starter",
        tasks: Sequence[str] = (),
        *,
        server: str | None = None,
        token: str | None = None,
        client: Client | None = None,
        provider: str = "local",
        observation: str = "screenshot",
        action_space: str = "computer_13",
        screen_size: tuple[int, int] = (1920, 1080),
        max_steps: int = 30,
        max_seconds: float = 1800.0,
        label: str = "",
        run_name: str = "",
        patience: float = 600.0,
        render_mode: str | None = "rgb_array",
    ) -> None:
        """Sends no request before the first `reset`.

        Args:
            benchmark: its name on the service.
            tasks: keys (`domain/name`) to draw from, in their order, again and again; empty = all of the benchmark.
            server: address; default DESKARENA_SERVER, else this machine.
            token: default DESKARENA_TOKEN, if set.
            client: instead of both.
            provider: kind of desktop.
            observation: observation space of the run.
            action_space: how texts are read.
            screen_size: (width, height) in pixels.
            max_steps: of an episode.
            max_seconds: likewise, of the agent's time.
            label: name and version of the agent, which identify it on leaderboards.
            run_name: of the run.
            patience: seconds to wait for a free desktop, and for a verdict.
            render_mode: `rgb_array` or None.
        """
        if render_mode not in {None, "rgb_array"}:
            raise ValueError(f"there is no render mode {render_mode!r}")
        self.render_mode = render_mode
        self._size = width, height = screen_size
        self.observation_space = observation_space_of(width, height, max_steps)
        self.action_space = action_space_of(width, height)
        self._tasks = list(tasks)
        self._next = 0
        self._task = ""
        self._episode: Episode | None = None
        self._observation: Observation | None = None
        self._run = OpenRun(
            client or Client(server, token),
            run_request(
                benchmark,
                run_name=run_name,
                label=label,
                provider=provider,
                observation=observation,
                screen_size=screen_size,
                max_steps=max_steps,
                max_seconds=max_seconds,
            )
            | {"action_space": action_space},
            patience=patience,
            own=client is None,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A pristine desktop for the next task, or for `options["task"]`; a running episode is ended.

        Raises:
            ServiceError: the service refuses or is unavailable.
            NotRunnable: the task is unknown, or cannot run here.
        """
        super().reset(seed=seed)
        self._leave()
        self._task = str((options or {}).get("task") or self._next_task())
        self._episode = self._run.episode(self._task)
        self._observation = self._episode.begin()
        return self._observe(self._observation), self._info(self._observation)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """See `gymnasium.Env.step`, and the class for reward and ends.

        Raises:
            AttemptLost: the desktop was lost; reset for a new episode.
            EpisodeLost: an infrastructure failure: there is no score.
        """
        if self._episode is None or self._observation is None:
            raise RuntimeError("call reset() first")
        before = self._observation
        observation = self._episode.act(as_answer(action))
        if observation is not None:
            self._observation = observation
            return self._observe(observation), 0.0, False, False, self._info(observation)
        result = self._episode.finish()
        self._episode.close()
        self._episode = None
        ended = result["ended_by"] in {"done", "infeasible"}
        return self._observe(before), float(result["score"]), ended, not ended, self._info(before, result)

    def render(self) -> Any:
        """The newest screen as (height, width, 3) bytes."""
        if self.render_mode is None:
            return None
        return as_array(self._observation.picture if self._observation else b"", *self._size)

    def close(self) -> None:
        """Ends the running episode and the run. Safe to call twice."""
        self._leave()
        self._run.close()

    def _next_task(self) -> str:
        if not self._tasks:
            self._tasks = [
                str(one["task"]) for one in self._run.client.items(f"/benchmarks/{self._run.benchmark}/tasks")
            ]
        self._next += 1
        return self._tasks[(self._next - 1) % len(self._tasks)]

    def _leave(self) -> None:
        if self._episode is not None:
            self._episode.leave()
            self._episode.close()
        self._episode = None

    def _observe(self, observation: Observation) -> dict[str, Any]:
        picture = as_array(observation.picture, *self._size)
        return {"screenshot": picture, "step": np.array(observation.index, dtype=np.int64)}

    def _info(self, observation: Observation, result: Mapping[str, Any] | None = None) -> dict[str, Any]:
        names = ("instruction", *TEXTS)
        # Copies: returned objects belong to the caller.
        info = {name: copy.deepcopy(observation.details.get(name)) for name in names}
        info["task"] = result["task"] if result else self._task
        return info if result is None else {**info, "result": {name: result[name] for name in RESULT}}


def as_answer(action: Any) -> dict[str, Any]:
    """The answer of the REST API that an action means.

    Raises:
        TypeError: It is not a valid action.
    """
    if isinstance(action, str):
        return {"reply": action}
    if not isinstance(action, Mapping):
        raise TypeError(f"expected an action, got {type(action).__name__}")
    if "action_type" in action:
        return {"reply": json.dumps(dict(action))}
    return {"actions": [_typed_action(action)]}


def _typed_action(action: Mapping[str, Any]) -> dict[str, Any]:
    """An element of the environment's action space as a typed action; only the parts that its type has."""
    kind = TYPES[int(action["type"])]
    typed_action: dict[str, Any] = {"type": kind}
    if kind in _POINTING:
        typed_action |= {"x": int(action["x"]), "y": int(action["y"])}
    if kind in {"CLICK", "MOUSE_DOWN", "MOUSE_UP"}:
        typed_action["button"] = BUTTONS[int(action["button"])]
    if kind == "CLICK":
        typed_action["clicks"] = int(action["clicks"]) + 1
    if kind == "SCROLL":
        typed_action["dy"] = int(action["scroll"]) - MOST_SCROLL
    if kind == "TYPING":
        typed_action["text"] = str(action["text"]) or " "
    if kind in {"PRESS", "HOTKEY"}:
        typed_action["keys"] = [part for part in _keys(action, kind) if part]
    return typed_action


def _keys(action: Mapping[str, Any], kind: str) -> list[str]:
    modifier = MODIFIERS[int(action["modifier"])] if kind == "HOTKEY" else ""
    return [modifier, KEYS[int(action["key"])]]


# Real desktops have clocks and blinking cursors: equal seeds do not give equal screens.
gymnasium.register(id="deskarena/Desktop-v0", entry_point="deskarena.gym:DeskarenaEnv", nondeterministic=True)
