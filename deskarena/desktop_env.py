"""`DesktopEnv` as agents written for OSWorld use it, on desktops of a Deskarena service.

Constructor, methods, observation keys and action strings are OSWorld's (desktop_env/desktop_env.py). The service
manages virtual machines: parameters that name one are ignored with a warning, unknown ones are mistakes.
"""

import os
import platform
import time
from collections.abc import Mapping
from typing import Any, Self

from deskarena import arguments
from deskarena.answers import answer, ending
from deskarena.client import Client
from deskarena.controller import Controller, SetupController
from deskarena.episode import Episode, Observation, OpenRun
from deskarena.errors import AttemptLost, EpisodeEnded, NotSupported, ServiceError
from deskarena.pictures import as_png
from deskarena.tasks import find_task

ACTION_SPACES = ("computer_13", "pyautogui", "claude_computer_use", "autoglm_computer_use")
FRESH_SECONDS = 5.0
"""Age of an observation after which `_get_obs` and the controller look again."""


class DesktopEnv:
    """One desktop after the other, each for one task.

    Attributes:
        instruction: the task's text; None before the first `reset`.
        action_space: as passed.
        action_history: actions passed to `step` since the last `reset`.
        controller: reads the desktop and acts on it.
        setup_controller: copies files to the desktop and starts programs.
        result: the verdict of the last `evaluate`.
    """

    metadata: Mapping[str, Any] = {"render_modes": ["rgb_array"]}
    _observed_at = 0.0
    _cut_off = False
    """The service ended the episode during a call of the controller."""

    def __init__(  # noqa: D417, PLR0913, PLR0917 - OSWorld's own constructor, in its order
        self,
        provider_name: str = "vmware",
        region: str | None = None,
        path_to_vm: str | None = None,
        snapshot_name: str = "init_state",
        action_space: str = "pyautogui",
        cache_dir: str = "cache",
        screen_size: tuple[int, int] | None = None,
        headless: bool = False,  # noqa: FBT001, FBT002
        require_a11y_tree: bool = True,  # noqa: FBT001, FBT002
        require_terminal: bool = False,  # noqa: FBT001, FBT002
        os_type: str = "Ubuntu",
        enable_proxy: bool = False,  # noqa: FBT001, FBT002
        client_password: str = "",
        *,
        server: str | None = None,
        token: str | None = None,
        benchmark: str | None = None,
        provider: str | None = None,
        run_name: str = "",
        label: str = "",
        max_steps: int = 1000,
        max_seconds: float = 14400.0,
        patience: float = 600.0,
        client: Client | None = None,
        **others: Any,
    ) -> None:
        """The positional arguments are OSWorld's; keyword-only ones configure the service.

        The service creates the desktops, so that it ignores `provider_name`, `region`, `path_to_vm`, `snapshot_name`,
        `headless`, `enable_proxy` and `client_password`.

        Args:
            action_space: `pyautogui` (also for the two others that OSWorld takes) or `computer_13`.
            cache_dir: the agent's own folder; nothing is written there.
            screen_size: (width, height) of the desktop; default SCREEN_WIDTH and SCREEN_HEIGHT, else 1920x1080.
            require_a11y_tree: observations have the accessibility tree.
            require_terminal: observations have the terminal's text.
            os_type: for the agent's own use.
            server: address of the service; default DESKARENA_SERVER, else this machine.
            token: of the service; default DESKARENA_TOKEN, if set.
            benchmark: whose tasks `reset` gets; default DESKARENA_BENCHMARK, else `osworld`.
            provider: kind of desktop; default DESKARENA_PROVIDER, else the service's own default.
            run_name: of the run that its episodes belong to.
            label: name and version of the agent, which identify it on leaderboards.
            max_steps: after which the service ends an episode; an agent that counts for itself needs none.
            max_seconds: likewise.
            patience: seconds to wait for a free desktop, and for a verdict.
            client: instead of `server` and `token`.
            others: of forks, for example `vm_ip`: warned about and left aside.

        Raises:
            TypeError: an argument is unknown.
            ValueError: a value is not possible here.
        """
        if action_space not in ACTION_SPACES:
            raise ValueError(f"action_space must be one of {', '.join(ACTION_SPACES)}, not {action_space!r}")
        arguments.check("DesktopEnv", locals(), others)
        self.provider_name, self.region, self.path_to_vm = provider_name, region, path_to_vm
        self.snapshot_name, self.headless, self.enable_proxy = snapshot_name, headless, enable_proxy
        self.current_use_proxy = False
        self.client_password, self.os_type = client_password or "password", os_type
        self.action_space = action_space
        self.cache_dir_base = self.cache_dir = cache_dir
        self.require_a11y_tree, self.require_terminal = require_a11y_tree, require_terminal
        self.screen_width, self.screen_height = _screen_size(screen_size)
        self.vm_ip, self.server_port, self.chromium_port, self.vnc_port, self.vlc_port = "127.0.0.1", 0, 0, 0, 0
        self.instruction: str | None = None
        self.config: Any = []
        self.evaluator: Any = {}
        self.action_history: list[Any] = []
        self.result: dict[str, Any] = {}
        self.controller = Controller(self, self._fresh, self.call)
        self.setup_controller = SetupController(self.call)
        self._traj_no, self._step_no, self.task_id = -1, 0, ""
        self._episode: Episode | None = None
        self._observation: Observation | None = None
        self._over = True
        request = {
            **self._request(max_steps, max_seconds),
            "benchmark": benchmark or os.environ.get("DESKARENA_BENCHMARK") or "osworld",
            "name": run_name,
            "params": {"label": label},
            "provider": provider or os.environ.get("DESKARENA_PROVIDER") or "local",
        }
        self._run = OpenRun(client or Client(server, token), request, patience=patience, own=client is None)

    def _request(self, max_steps: int, max_seconds: float) -> dict[str, Any]:
        """The parts of the run request that set how episodes run."""
        return {
            "observation": "screenshot_a11y" if self.require_a11y_tree else "screenshot",
            "action_space": "computer_13" if self.action_space == "computer_13" else "pyautogui",
            "screen": {"width": self.screen_width, "height": self.screen_height},
            "budget": {"max_steps": max_steps, "max_seconds": max_seconds, "max_invalid": 100},
            **({"observation_params": {"terminal": True}} if self.require_terminal else {}),
        }

    @property
    def run_id(self) -> str | None:
        """Id of the run that its episodes belong to; None before the first `reset` and after `close`."""
        return self._run.id

    @property
    def unwrapped(self) -> "DesktopEnv":
        """Itself, as of any environment."""
        return self

    @property
    def vm_platform(self) -> str:
        """`Linux` or `Windows`."""
        return self.controller.get_vm_platform()

    @property
    def vm_machine(self) -> str:
        """Kind of processor."""
        return platform.machine()

    @property
    def vm_screen_size(self) -> dict[str, int]:
        """`{"width": ..., "height": ...}` in pixels."""
        return self.controller.get_vm_screen_size()

    def reset(
        self,
        task_config: Mapping[str, Any] | None = None,
        seed: int | None = None,  # noqa: ARG002 - OSWorld takes it and does not use it either.
        options: Any = None,  # noqa: ARG002
        **others: Any,
    ) -> dict[str, Any]:
        """A pristine desktop, set up for the task, and its first observation.

        A running episode is ended and scored as it is. After a lost desktop the same task continues in the same
        episode, on another desktop.

        Args:
            task_config: a task file's content; only its `id` (else its `instruction`) is used: task and evaluator are
                the service's. None = the same task again.
            seed: ignored.
            options: ignored.
            others: of forks: `vm_ip`, `snapshot_name`, `reset_vm=True`.

        Raises:
            TypeError: an argument is unknown.
            ValueError: there is no task to take.
            ServiceError: the service refuses or is unavailable.
            NotRunnable: the task is unknown, or cannot run here.
        """
        arguments.check("reset", {}, others)
        if task_config is None and not (self.task_id or self.instruction):
            raise ValueError("the first reset needs a task_config")
        if task_config is not None:
            self._set_task(task_config)
        task = find_task(self._run.client, self._run.benchmark, {"id": self.task_id, "instruction": self.instruction})
        again = self._episode is not None and self._episode.lost and self._episode.task == task
        if not again:
            self.leave()
            self._episode = self._run.episode(task)
        self._traj_no, self._step_no = self._traj_no + 1, 0
        self.action_history.clear()
        self.result = {}
        self._over, self._cut_off = False, False
        self._take(self._now().begin())
        self.instruction = self.instruction or str(self._poll().details["instruction"])
        return self._by_key(self._poll())

    def step(self, action: Any, pause: float = 2) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:  # noqa: ARG002
        """Executes one action and waits until the screen is still.

        Args:
            action: `WAIT`, `DONE`, `FAIL`, pyautogui code, or a `computer_13` object.
            pause: not used: the service waits for the screen itself (docs/bring-an-agent.md).

        Returns:
            (observation, reward, done, info). The reward is 0, as there: `evaluate` has the score. `info` is
            `{"done": True}` or `{"fail": True}` at the agent's end, `{"ended": True}` where a budget was used up, and
            has `note` where the action could not be carried out.

        Raises:
            AttemptLost: the desktop was lost; reset with the same task.
            EpisodeLost: for good.
            TypeError: the action is none of these.
        """
        self._now()
        if self._over and not self._cut_off:
            raise RuntimeError("the episode is over: call evaluate() or reset()")
        message = answer(action, self.action_space)
        self._step_no += 1
        self.action_history.append(action)
        observation = None if self._over else self._act(message)
        if observation is None:
            end = "" if self._over else ending(action)
            self._over, self._cut_off = True, False
            info = {"DONE": {"done": True}, "FAIL": {"fail": True}}.get(end, {"ended": True})
            return self._by_key(self._poll()), 0, True, info
        self._take(observation)
        note = str(observation.details.get("note") or "")
        return self._by_key(observation), 0, False, {"note": note} if note else {}

    def evaluate(self) -> float:
        """The score in [0, 1], by the task's evaluator. Ends the episode if the agent did not.

        Raises:
            EpisodeLost: an infrastructure failure: there is no score.
        """
        if not self.result:
            self._over = True
            self.result = self._now().finish()
        return float(self.result["score"])

    def render(self, mode: str = "rgb_array") -> bytes:
        """The newest screenshot as PNG bytes, as there."""
        if mode != "rgb_array":
            raise ValueError(f"there is no render mode {mode!r}")
        return self.controller.get_screenshot()

    def close(self) -> None:
        """Ends the running episode and the run. Safe to call twice."""
        self.leave()
        self._run.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get_obs(self) -> dict[str, Any]:
        """The screen now by OSWorld's keys: see `_fresh`."""
        return self._by_key(self._fresh())

    def _by_key(self, observation: Observation) -> dict[str, Any]:
        return {
            "screenshot": as_png(observation.picture, observation.media_type),
            "accessibility_tree": observation.details.get("accessibility_tree") if self.require_a11y_tree else None,
            "terminal": observation.details.get("terminal") if self.require_terminal else None,
            "instruction": self.instruction,
        }

    def _fresh(self) -> Observation:
        """The newest observation; another one, by a WAIT, if it is older than `FRESH_SECONDS`.

        Runners sleep before they look, for a program that is still starting.
        """
        old = time.monotonic() - self._observed_at > FRESH_SECONDS
        if old and not self._over and self._observation is not None:
            observation = self._act(answer("WAIT", self.action_space))
            if observation is None:
                self._over = self._cut_off = True
            else:
                self._take(observation)
        return self._poll()

    def call(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        """Carries out a typed action of the controller as one step; returns its result.

        Raises:
            NotSupported: the action space has no code, or the service refused the action.
            EpisodeEnded: a budget was used up.
        """
        if self.action_space == "computer_13":
            message = f"computer_13 has no code, scripts or files, so {action['type']} is not available"
            raise NotSupported(message, code="no_code")
        self._now()
        if self._over:
            raise EpisodeEnded("the episode is over: call evaluate() or reset()")
        observation = self._act({"actions": [action]})
        if observation is None:
            self._over = self._cut_off = True
            raise EpisodeEnded(f"the episode's budget of steps or time was used up by {action['type']}")
        self._take(observation)
        results = observation.details.get("results")
        if not results:
            raise ServiceError("the service returns no results of scripts", hint="Update it to this version.")
        result: Mapping[str, Any] = results[0]
        if "skipped" in result:
            raise NotSupported(str(observation.details.get("note") or result["skipped"]), code="refused")
        return result

    def _take(self, observation: Observation) -> None:
        self._observation, self._observed_at = observation, time.monotonic()

    def _act(self, message: Mapping[str, Any]) -> Observation | None:
        try:
            return self._now().act(message)
        except AttemptLost:
            self._over = True
            raise

    def _poll(self) -> Observation:
        if self._observation is None:
            raise RuntimeError("call reset() first")
        return self._observation

    def _now(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("call reset() first")
        return self._episode

    def leave(self) -> None:
        """Ends the running episode without waiting for its verdict; the run stays open. Safe to call twice."""
        if self._episode is not None:
            self._episode.leave()
            self._episode.close()
        self._episode, self._over = None, True

    def _set_task(self, task_config: Mapping[str, Any]) -> None:
        config: Mapping[str, Any] = task_config if isinstance(task_config, Mapping) else {}
        task_id, instruction = str(config.get("id") or ""), str(config.get("instruction") or "")
        if not (task_id or instruction):
            raise ValueError(f"task_config must be a task file's content with its id, not {str(task_config)[:200]!r}")
        self.task_id, self.instruction = task_id, instruction
        self.config = task_config.get("config", [])
        self.evaluator = task_config.get("evaluator", {})
        self.cache_dir = os.path.join(self.cache_dir_base, self.task_id)  # noqa: PTH118 - OSWorld's is a text.


def _screen_size(size: Any) -> tuple[int, int]:
    """Width and height in pixels, of (width, height) or `{"width": ..., "height": ...}`; the default is OSWorld's."""
    values: Any = [size.get("width"), size.get("height")] if isinstance(size, Mapping) else size
    if not values:
        values = [os.environ.get("SCREEN_WIDTH", "1920"), os.environ.get("SCREEN_HEIGHT", "1080")]
    try:
        width, height = (int(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(f"screen_size must be (width, height), not {size!r}") from None
    return width, height
