"""`make try-agents`: runs public agents through `DesktopEnv`, one changed line each.

Writes docs/reports/public-agents.md. Needs checkouts of OSWorld and Agent-S, and packages from PyPI in an environment
of their own (`.agents-env`). Models are a server on this machine with fixed replies; desktops are local ones.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.registry import PluginKind
from deskarena.client import Client
from tests.integration.worker.in_process import finished
from tests.integration.worker.stack import WorkerStack
from tools.bench.viewer import ApiServers
from tools.separate_environment import make_environment
from tools.try_agents.environment import PACKAGES, agents_environment, versions, write_path
from tools.try_agents.model_server import ReplyServer
from tools.try_agents.page import TrialOutcome, write_page
from tools.try_agents.trials import IMPORT, OURS, STARTER, AgentTrial, trials

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 420.0
_PARAMETERS = ("type", "x", "y", "button", "clicks", "text", "keys")


def main() -> int:
    """Runs the trials; the exit code tells whether all scored 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--osworld", type=Path, required=True, help="checkout of OSWorld, or of a copy of it")
    parser.add_argument("--agent-s", type=Path, required=True, help="checkout of simular-ai/Agent-S")
    parser.add_argument("--only", default="", help="pattern of the agents' names; writes no page")
    parser.add_argument("--environment", type=Path, default=ROOT / ".agents-env")
    options = parser.parse_args()
    python = make_environment(options.environment.resolve(), "3.11", PACKAGES)
    with tempfile.TemporaryDirectory(prefix="try-agents-", ignore_cleanup_errors=True) as name:
        bed = TestBed(Path(name), python, {"osworld": options.osworld, "agent-s": options.agent_s})
        try:
            outcomes = bed.run(options.only)
        finally:
            bed.close()
    packages = versions(python, ("gui-agents", "ui-tars", "openai"))
    commits = {source: _commit(path) for source, path in (("osworld", options.osworld), ("agent-s", options.agent_s))}
    if not options.only:
        write_page(ROOT / "docs" / "reports" / "public-agents.md", outcomes, packages, commits)
    return 0 if all(outcome.score == 1.0 for outcome in outcomes) else 1


def _commit(checkout: Path) -> str:
    result = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return result.stdout.strip()[:12] or "unknown"


class TestBed:
    """The service, its model server, and copies of the checkouts."""

    __test__ = False

    def __init__(self, folder: Path, python: Path, checkouts: Mapping[str, Path]) -> None:
        self._folder = folder
        self._python = python
        self._trees = {name: _copy(path, folder / name) for name, path in checkouts.items()}
        shutil.copytree(Path(__file__).parent, folder / "ui-tars", ignore=shutil.ignore_patterns("__pycache__"))
        self._trees["ui-tars"] = folder / "ui-tars"
        self._path = write_path(folder / "path", ROOT / "deskarena")
        (folder / "stack").mkdir()
        self._stack = WorkerStack(folder / "stack", slots=1)
        self._models = ReplyServer()
        self._api: ApiServers | None = None

    def run(self, only: str) -> list[TrialOutcome]:
        """All trials whose agent's name matches `only`."""
        self._stack.import_starter()
        self._import_osworld(task for task in {trial.task for trial in trials([])} if task != STARTER)
        self._stack.start_worker()
        self._api = ApiServers(self._stack.environment)
        client = Client(f"http://127.0.0.1:{self._api.port}", "")
        run = self._stack.world.submit("oracle", "starter", tasks=(STARTER,))
        finished(self._stack.world, run.id, SECONDS)
        (episode,) = client.items(f"/runs/{run.id}/episodes")
        recorded = [action for action in _actions(client, episode["id"]) if action["type"] != "WAIT"]
        outcomes = [self._try(client, trial) for trial in trials(recorded) if re.search(only, trial.agent)]
        client.close()
        return outcomes

    def close(self) -> None:
        """Stops everything."""
        if self._api is not None:
            self._api.stop()
        self._models.stop()
        self._stack.close()

    def _import_osworld(self, tasks: Any) -> None:
        suite = self._folder / "suite"
        for task in tasks:
            (suite / "examples" / task).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self._example(task), suite / "examples" / f"{task}.json")
        registry.load()
        self._stack.world.benchmark(registry.lookup(PluginKind.BENCHMARK, "osworld")().load(suite), name="osworld")

    def _example(self, task: str) -> Path:
        return self._trees["osworld"] / "evaluation_examples" / "examples" / f"{task}.json"

    def _try(self, client: Client, trial: AgentTrial) -> TrialOutcome:
        """Runs one agent as its own documentation does, with the changed import."""
        tree, folder = self._trees[trial.source], self._folder / "tries" / str(time.monotonic_ns())
        files = _task_files(folder, trial, None if trial.benchmark == "starter" else self._example(trial.task), client)
        runner = tree / trial.runner
        changed = _change_import(runner) if trial.source != "ui-tars" else 0
        for file, (line, mended) in trial.mended.items():
            (tree / file).write_text((tree / file).read_text().replace(line, mended))
        before = {run["id"] for run in client.items("/runs", limit=200)}
        self._models.reply = trial.reply
        path = [self._path, *([str(tree)] if trial.checkout else [])]
        server = f"http://127.0.0.1:{self._api.port if self._api else 0}"
        environment = agents_environment(server, self._models.url, path) | {"DESKARENA_BENCHMARK": trial.benchmark}
        cwd = runner.parent if trial.source == "agent-s" else tree
        (cwd / "logs").mkdir(exist_ok=True)
        command = [str(self._python), str(runner), *_arguments(trial, files, self._models.url)]
        log = folder / "log.txt"
        with log.open("w") as out:
            done = subprocess.Popen(command, cwd=cwd, env=environment, stdout=out, stderr=subprocess.STDOUT)
            try:
                done.wait(SECONDS)
            except subprocess.TimeoutExpired:
                done.kill()
        results = [float(file.read_text()) for file in (folder / "results").rglob("result.txt")]
        runs = [run["id"] for run in client.items("/runs", limit=200) if run["id"] not in before]
        actions = [action for run in runs for episode in client.items(f"/runs/{run}/episodes")
                   for action in _actions(client, episode["id"])]  # fmt: skip
        score = results[0] if results else None
        sys.stdout.write(f"{trial.agent}, {trial.task}: {score}, {[action['type'] for action in actions]}\n")
        if score != 1.0:
            sys.stdout.write(log.read_text()[-4000:])
        sys.stdout.flush()
        return TrialOutcome(trial, changed + len(trial.mended), score, tuple(action["type"] for action in actions))


def _copy(checkout: Path, target: Path) -> Path:
    shutil.copytree(checkout, target, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    return target


def _change_import(runner: Path) -> int:
    """Replaces the import of the environment; returns how many lines of the runner differ from the original."""
    lines = runner.read_text().splitlines(keepends=True)
    runner.write_text("".join(line.replace(IMPORT, OURS) for line in lines))
    return sum(OURS in line for line in runner.read_text().splitlines())


@dataclass(frozen=True)
class TaskFiles:
    """Files that a runner reads its task from, in OSWorld's layout."""

    base: Path
    listing: Path
    example: Path
    results: Path


def _task_files(folder: Path, trial: AgentTrial, example: Path | None, client: Client) -> TaskFiles:
    domain, _, name = trial.task.partition("/")
    target = folder / "examples" / domain / f"{name}.json"
    target.parent.mkdir(parents=True)
    if example is not None:
        shutil.copy(example, target)
    else:
        (task,) = [task for task in client.items("/benchmarks/starter/tasks", q=name) if task["task"] == trial.task]
        config = {"id": name, "instruction": task["instruction"], "config": [], "evaluator": {}}
        target.write_text(json.dumps(config))
    (folder / "tasks.json").write_text(json.dumps({domain: [name]}))
    return TaskFiles(folder, folder / "tasks.json", target, folder / "results")


def _arguments(trial: AgentTrial, files: TaskFiles, url: str) -> Sequence[str]:
    if trial.source == "ui-tars":
        return str(files.example), str(files.results)
    common = {
        "--test_all_meta_path": files.listing, "--test_config_base_dir": files.base, "--result_dir": files.results,
        "--max_steps": 12, "--provider_name": "docker", "--model": "gpt-4o",
    }  # fmt: skip
    if trial.source == "agent-s":
        common |= {
            "--model_url": url, "--model_api_key": "fixed", "--ground_provider": "openai", "--ground_url": url,
            "--ground_api_key": "fixed", "--ground_model": "grounder", "--grounding_width": 1920,
            "--grounding_height": 1080,
        }  # fmt: skip
    return *(str(word) for pair in common.items() for word in pair), *trial.arguments


def _actions(client: Client, episode_id: str) -> list[dict[str, Any]]:
    attempt = list(client.items(f"/episodes/{episode_id}/attempts"))[-1]
    steps = client.items(f"/attempts/{attempt['id']}/steps")
    return [{name: action[name] for name in _PARAMETERS} for step in steps for action in step["actions"]]


if __name__ == "__main__":
    sys.exit(main())
