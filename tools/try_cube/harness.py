"""The harness's side of `make try-cube`: an agent that plays given actions, by cube-harness's own loop.

`python harness.py FOLDER` reads FOLDER/actions.json and writes FOLDER/rewards.json. Runs in an environment of its own.
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

from deskarena.cube import DeskarenaBenchmarkConfig


class ReplayConfig(AgentConfig):
    """The actions of each task."""

    actions: dict[str, list[Action]]

    def make(self, action_set: list[ActionSchema] | None = None, **kwargs: Any) -> "Replay":
        """An agent for the task `task_id`. Raises ValueError if the desktop lacks one of its actions."""
        actions = self.actions[kwargs["task_id"]]
        missing = {action.name for action in actions} - {action.name for action in action_set or ()}
        if missing:
            raise ValueError(f"there are no actions {sorted(missing)}")
        return Replay(self, actions)


class Replay(Agent):
    """Plays its actions, one each turn."""

    def __init__(self, config: ReplayConfig, actions: list[Action]) -> None:
        super().__init__(config)
        self._left = iter(actions)

    def step(self, obs: Observation) -> AgentOutput:
        """The next action."""
        if not obs.contents:
            raise ValueError("an observation is empty")
        return AgentOutput(actions=[next(self._left)])


def main(folder: Path) -> None:
    """Runs one experiment."""
    actions = json.loads((folder / "actions.json").read_text())
    config = DeskarenaBenchmarkConfig(benchmark="starter", screen=(1920, 1080), label="cube replay", run_name="By CUBE")
    experiment = Experiment(
        name="deskarena",
        output_dir=folder / "results_00000000",
        agent_config=ReplayConfig(actions=actions),
        benchmark_config=config.subset_from_list(list(actions)),
        max_retries=0,
    )
    result = run_sequentially(experiment)
    rewards = {
        trajectory.metadata["task_id"]: trajectory.reward_info["reward"] for trajectory in result.trajectories.values()
    }
    (folder / "rewards.json").write_text(json.dumps(rewards))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
