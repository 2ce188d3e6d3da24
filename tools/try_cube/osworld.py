"""The side of `make try-cube` on which `osworld-cube` runs: its own debug tasks, on leased desktops.

`python osworld.py FOLDER` writes FOLDER/osworld.json. Runs in an environment of its own.
"""

import json
import sys
from pathlib import Path
from typing import Any

from cube.core import Action, ActionSchema, Observation
from cube_harness.agent import Agent, AgentConfig
from cube_harness.core import AgentOutput
from cube_harness.exp_runner import run_sequentially
from cube_harness.experiment import Experiment
from osworld_cube.debug import get_debug_benchmark, make_debug_agent

from deskarena.cube_infra import DeskarenaInfraConfig


class DebugConfig(AgentConfig):
    """The agent that the package has for its tasks."""

    def make(self, action_set: list[ActionSchema] | None = None, **kwargs: Any) -> "Debug":  # noqa: ARG002
        """An agent for the task `task_id`."""
        return Debug(self, kwargs["task_id"])


class Debug(Agent):
    """Passes the harness's turns to the package's agent."""

    def __init__(self, config: DebugConfig, task_id: str) -> None:
        super().__init__(config)
        self._agent = make_debug_agent(task_id)

    def step(self, obs: Observation) -> AgentOutput:
        """The next action."""
        action: Action = self._agent.get_action(obs)
        return AgentOutput(actions=[action])


def main(folder: Path) -> None:
    """Runs one experiment."""
    experiment = Experiment(
        name="osworld",
        output_dir=folder / "osworld_00000000",
        agent_config=DebugConfig(),
        benchmark_config=get_debug_benchmark(),
        infra=DeskarenaInfraConfig(label="osworld-cube debug", run_name="osworld-cube"),
        max_retries=0,
    )
    result = run_sequentially(experiment)
    rewards = {
        trajectory.metadata["task_id"]: trajectory.reward_info["reward"] for trajectory in result.trajectories.values()
    }
    (folder / "osworld.json").write_text(json.dumps(rewards))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
