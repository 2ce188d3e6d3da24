"""Builds, starts, runs the demonstration through the proxy, renews the API under load, stops, starts again, and looks.

python -m tools.compose_smoke [--stand-ins] [--keep]      exit code 0: everything is as in docs/deploy-compose.md
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tools.compose_smoke.substitute_images import build_all

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "deskarena-trial"
HEALTHY_SECONDS = 60.0
COUNT = """
from backend.config import get_settings
from backend.services.artifacts.stores import open_store
print(sum(len(batch) for batch in open_store(get_settings()).old(2**40)))
"""


@dataclass
class SmokeStack:
    """A separate stack.

    Attributes:
        report: what was seen, in order.
    """

    port: int
    report: dict[str, Any] = field(default_factory=dict)

    def compose(self, *words: str) -> str:
        """One command of Compose; what it prints. Raises CalledProcessError."""
        variables = {**os.environ, "DESKARENA_PORT": str(self.port)}
        command = ["docker", "compose", "--project-name", PROJECT, *words]
        return subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx.Client:
        """A client of the API through the proxy."""
        token = self.compose("exec", "-T", "api-1", "cat", "/run/deskarena/api/token").strip()
        return httpx.Client(base_url=self.address, headers={"Authorization": f"Bearer {token}"}, timeout=60)

    def start(self, name: str) -> None:
        """Starts everything and waits until all is well."""
        began = time.monotonic()
        self.compose("up", "--detach", "--wait", "--no-build")
        self.report[f"{name}: seconds until all is healthy"] = round(time.monotonic() - began, 1)

    def demonstration(self) -> str:
        """The oracle on the starter's editor tasks; the run's id."""
        words = ("run", "submit", "--benchmark", "starter", "--agent", "oracle", "--tasks", "editor/*", "--wait")
        environment = {
            **os.environ,
            "DESKARENA_SERVER": self.address,
            "DESKARENA_TOKEN": self.client().headers["Authorization"].split()[1],
        }
        result = subprocess.run(
            [Path(sys.executable).with_name("deskarena"), *words, "--timeout", "900", "-o", "json"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        run = json.loads(result.stdout)
        self.report["demonstration: exit code"] = result.returncode
        return str(run["id"])

    def snapshot(self, run_id: str) -> dict[str, Any]:
        """The run's results: its outcomes, and every picture by hash."""
        with self.client() as client:
            run = client.get(f"/api/v1/runs/{run_id}").raise_for_status().json()
            episodes = client.get(f"/api/v1/runs/{run_id}/episodes").raise_for_status().json()["items"]
        return {
            "status": run["status"],
            "scores": sorted((episode["task"], episode.get("score")) for episode in episodes),
            "artifacts": int(self.compose("exec", "-T", "worker", "python", "-c", COUNT)),
        }

    def renewed_under_load(self) -> None:
        """Replaces both API servers one after the other while four clients ask without a pause."""
        failed: list[str] = []
        requests = [0]
        ends = threading.Event()

        def ask() -> None:
            with self.client() as client:
                while not ends.is_set():
                    for method, path in (("GET", "/api/v1/runs"), ("GET", "/"), ("POST", "/api/v1/runs/none/cancel")):
                        requests[0] += 1
                        try:
                            status = client.request(method, path).status_code
                        except httpx.HTTPError as error:
                            failed.append(repr(error))
                        else:
                            if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.TOO_MANY_REQUESTS:
                                failed.append(f"{method} {path}: {status}")

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for name in ("api-1", "api-2"):
            self.compose("up", "--detach", "--wait", "--no-deps", "--force-recreate", "--no-build", name)
        ends.set()
        for thread in threads:
            thread.join()
        self.report["renewing the API: requests"] = requests[0]
        self.report["renewing the API: failed"] = failed[:10] + [f"{len(failed)} in all"] * bool(failed)


def free_port() -> int:
    """A free port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    """Runs the smoke test; prints the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stand-ins", action="store_true", help="make images of the same names from Debian packages")
    parser.add_argument("--keep", action="store_true", help="leave it running")
    options = parser.parse_args()
    if options.stand_ins:
        build_all()
    trial = SmokeStack(free_port())
    try:
        trial.compose("build")
        trial.start("first start")
        run_id = trial.demonstration()
        before = trial.snapshot(run_id)
        trial.renewed_under_load()
        trial.compose("stop")
        trial.start("second start")
        after = trial.snapshot(run_id)
        trial.report |= {"kept": before, "the same after stop and start": before == after}
    finally:
        if not options.keep:
            trial.compose("down", "--volumes", "--timeout", "30")
    print(json.dumps(trial.report, indent=2))  # noqa: T201 - the result
    quick = all(value < HEALTHY_SECONDS for name, value in trial.report.items() if "seconds" in name)
    well = trial.report["demonstration: exit code"] == 0 and before["artifacts"] and before == after
    return 0 if quick and well and not trial.report["renewing the API: failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
