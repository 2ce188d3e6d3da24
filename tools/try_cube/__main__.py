"""`make try-cube`: cube-harness drives tasks of ours on real desktops, and those of `osworld-cube` on leased ones.

Needs Python 3.12 and packages from PyPI in an environment of their own (`.cube-env`). Our tasks come by
`deskarena.cube`: the oracle solves them; its actions are what the harness's agent then plays. `osworld-cube` plays its
own debug tasks, on machines of `deskarena.cube_infra`. The exit code tells whether all scored 1, for the harness and
(ours) here.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deskarena.client import Client
from tests.integration.worker.in_process import finished
from tests.integration.worker.stack import WorkerStack
from tools.bench.viewer import ApiServers
from tools.separate_environment import make_environment

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cube-standard>=0.1.0rc10", "cube-harness>=0.1.0rc2", "osworld-cube>=0.3.0", "httpx<1", "pillow")
TASKS = ("calculator/product", "editor/add_milk", "editor/save_copy")
SECONDS = 600.0
_TOOLS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "CLICK": ("click", {"x": "x", "y": "y", "button": "button", "clicks": "clicks"}),
    "MOVE_TO": ("move", {"x": "x", "y": "y"}),
    "TYPING": ("type_text", {"text": "text"}),
    "PRESS": ("press_keys", {"keys": "keys"}),
    "HOTKEY": ("press_keys", {"keys": "keys"}),
    "WAIT": ("wait", {}),
    "DONE": ("final_step", {}),
    "FAIL": ("infeasible", {}),
}
"""Typed actions as the harness's: the name, and its arguments by the action's fields."""


def main() -> int:
    """Runs the tasks twice: by the oracle, and by the harness."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=ROOT / ".cube-env")
    python = make_environment(parser.parse_args().environment.resolve(), "3.12", PACKAGES)
    with tempfile.TemporaryDirectory(prefix="try-cube-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "stack").mkdir()
        stack = WorkerStack(folder / "stack", slots=1)
        api = None
        try:
            stack.import_starter()
            stack.start_worker()
            api = ApiServers(stack.environment)
            client = Client(f"http://127.0.0.1:{api.port}", "")
            run = stack.world.submit("oracle", "starter", tasks=TASKS)
            finished(stack.world, run.id, SECONDS)
            rewards = drive(python, folder, client, str(run.id))
            scores = {episode["task"]: episode["score"] for episode in _episodes(client, _newest_run(client))}
            osworld = play(python, folder, client, "osworld.py", "osworld.json")
            leases = [(episode["task"], episode["outcome"]) for episode in _episodes(client, _newest_run(client))]
        finally:
            if api is not None:
                api.stop()
            stack.close()
    print(json.dumps({"rewards": rewards, "scores": scores, "osworld": osworld, "leases": leases}, indent=2))
    all_solved = rewards == scores == dict.fromkeys(TASKS, 1.0)
    leased = list(osworld.values()) == [1.0, 1.0] and leases == [("desktop/linux", "handed_in")] * 2
    return 0 if all_solved and leased else 1


def drive(python: Path, folder: Path, client: Client, run_id: str) -> dict[str, float]:
    """Plays the actions of a run's episodes by the harness; its rewards by task."""
    actions = {episode["task"]: _tool_calls(client, episode["id"]) for episode in _episodes(client, run_id)}
    (folder / "actions.json").write_text(json.dumps(actions))
    (folder / "path").mkdir()
    (folder / "path" / "deskarena").symlink_to(ROOT / "deskarena")
    return play(python, folder, client, "harness.py", "rewards.json")


def play(python: Path, folder: Path, client: Client, script: str, result: str) -> dict[str, float]:
    """Runs one of the scripts beside this one in the other environment; what it writes."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(folder / "path"),
        "DESKARENA_SERVER": client.server,
    }
    command = [str(python), str(Path(__file__).with_name(script)), str(folder)]
    subprocess.run(command, env=environment, check=True, timeout=SECONDS)
    rewards: dict[str, float] = json.loads((folder / result).read_text())
    return rewards


def _tool_calls(client: Client, episode_id: str) -> list[dict[str, Any]]:
    *_, attempt = client.items(f"/episodes/{episode_id}/attempts")
    steps = client.items(f"/attempts/{attempt['id']}/steps")
    return [_tool_call(action) for step in steps for action in step["actions"]]


def _tool_call(action: Mapping[str, Any]) -> dict[str, Any]:
    name, arguments = _TOOLS[action["type"]]
    return {"name": name, "arguments": {argument: action[part] for argument, part in arguments.items()}}


def _newest_run(client: Client) -> str:
    return str(client.get("/runs", limit=1)["items"][0]["id"])


def _episodes(client: Client, run_id: str) -> list[dict[str, Any]]:
    return list(client.items(f"/runs/{run_id}/episodes"))


if __name__ == "__main__":
    sys.exit(main())
