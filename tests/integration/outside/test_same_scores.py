"""An agent that knows OSWorld's interface only gets the scores of `oracle`, on real desktops."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskarena.client import Client
from deskarena.desktop_env import DesktopEnv
from tests.integration.outside.small_agent import as_computer_13, as_pyautogui, play
from tests.integration.worker.in_process import finished
from tests.integration.worker.stack import WorkerStack
from tests.sampling import sample
from tools.bench.viewer import ApiServers

pytestmark = [pytest.mark.desktop, pytest.mark.stack]
TASKS = {
    "computer_13": sample(("editor/add_milk", "terminal/count_lines", "terminal/restore_poem"), 1),
    "pyautogui": sample(("files/rename_report", "editor/write_invitation"), 1),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The whole stack with the starter benchmark, and `oracle`'s run of these tasks, all five under `make test-all`."""
    stack = WorkerStack(Path(tmp_path_factory.mktemp("stack")), slots=1)
    try:
        stack.import_starter()
        stack.start_worker()
        api = ApiServers(stack.environment)
        found = Client(f"http://127.0.0.1:{api.port}", "")
        try:
            chosen = tuple(task for tasks in TASKS.values() for task in tasks)
            run = stack.world.submit("oracle", "starter", tasks=chosen)
            finished(stack.world, run.id, 600.0)
            yield found
        finally:
            found.close()
            api.stop()
    finally:
        stack.close()


def recorded(client: Client) -> dict[str, tuple[float, list[dict[str, Any]]]]:
    """Score and actions of `oracle`, by task."""
    (run,) = client.items("/runs", agent="oracle")
    found = {}
    for episode in client.items(f"/runs/{run['id']}/episodes"):
        attempt = list(client.items(f"/episodes/{episode['id']}/attempts"))[-1]
        steps = client.items(f"/attempts/{attempt['id']}/steps")
        found[episode["task"]] = episode["score"], [action for step in steps for action in step["actions"]]
    return found


@pytest.mark.sampled(1)
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("space", "spell"), [("computer_13", as_computer_13), ("pyautogui", as_pyautogui)])
def test_same_scores_as_oracle(client: Client, space: str, spell: Any) -> None:
    known = recorded(client)
    instructions = {one["task"]: one["instruction"] for one in client.items("/benchmarks/starter/tasks")}
    env = DesktopEnv(action_space=space, client=client, benchmark="starter", patience=300.0)
    try:
        scores = {}
        for task in TASKS[space]:
            _, actions = known[task]
            config = {"id": task.partition("/")[2], "instruction": instructions[task], "evaluator": {}}
            scores[task] = play(env, config, [spell(action) for action in actions])
    finally:
        env.close()
    assert scores == {task: known[task][0] for task in TASKS[space]}
