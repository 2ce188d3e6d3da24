"""Jobs of CI systems against a live server: the GitHub action by its own steps, the GitLab example by its script."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import yaml
from defusedxml.ElementTree import parse

from backend.services.scheduling.claims import Claim
from tests.conftest import ROOT
from tests.factories.github_runner import PULL_REQUEST, GitHubJob
from tests.factories.junit import faults
from tests.factories.live_service import LiveService, live_service, scoring
from tests.factories.records import World, world
from tests.factories.tasks import make_benchmark, make_task
from tests.fakes.github_comments import TOKEN, GitHubComments, github_comments
from tests.integration.cli.service import deskarena

ACTION = ROOT / "integrations" / "github-action"
GITLAB = ROOT / "integrations" / "gitlab" / "deskarena.gitlab-ci.yml"
COMMAND = f"{sys.executable} -m backend.cli.main"
TASKS = 30
BASELINE, REGRESSION, NOISE, SLOW = 1, 2, 3, 4
UNSOLVED = {
    BASELINE: range(6),
    REGRESSION: range(12),  # 20 points fewer.
    NOISE: (0, 1, 2, 3, 10, 20),  # As many, two of them others.
    SLOW: range(0),
}
"""Tasks that a run does not solve, by its parameter `actions_per_step`."""


@dataclass
class Lab:
    """A live server, and what works there."""

    service: LiveService
    made: World
    rest: threading.Event

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(httpx.get(f"{self.service.url}/api/v1/runs", timeout=60).json()["items"])


def score(claim: Claim) -> float:
    number = int(claim.task.key.name)
    return float(number not in UNSOLVED[claim.config.params["actions_per_step"]])


@pytest.fixture(scope="module")
def lab(shared_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with world(shared_database) as made:
        made.benchmark(make_benchmark(*(make_task("files", str(number)) for number in range(TASKS))))
        worker = made.worker(slots=8)
        data = tmp_path_factory.mktemp("data")
        with live_service(shared_database, data) as service, scoring(made, worker, score) as rest:
            yield Lab(service, made, rest)


@pytest.fixture
def github() -> Iterator[GitHubComments]:
    with github_comments() as comments:
        yield comments


@pytest.fixture(scope="module")
def baseline(lab: Lab) -> str:
    words = ("--param", f"actions_per_step={BASELINE}", "--wait", "-o", "json")
    done = deskarena(*SUBMIT, *words, server=lab.service.url)
    assert done.returncode == 0, done.stderr
    return done.stderr.partition("run ")[2].partition(":")[0]


SUBMIT = ("run", "submit", "--benchmark", "starter", "--agent", "random")


def job(github: GitHubComments, folder: Path, **more: str) -> GitHubJob:
    variables = {"GITHUB_TOKEN": TOKEN, "PYTHONPATH": str(ROOT), **more}
    return GitHubJob(ACTION, folder, github.url, variables)


def inputs(lab: Lab, seed: int, **more: str) -> dict[str, str]:
    return {
        "server": lab.service.url,
        "benchmark": "starter",
        "agent": "random",
        "args": f"--param\nactions_per_step={seed}",
        "command": COMMAND,
        "patience": "30",
        **more,
    }


@pytest.mark.sampled(2)
class TestGitHubAction:
    def test_repeated_job_reuses_run_and_comment(
        self, lab: Lab, github: GitHubComments, baseline: str, tmp_path: Path
    ) -> None:
        github.add(PULL_REQUEST, "A person's word.", author="somebody")
        before = lab.runs
        first = job(github, tmp_path).use(**inputs(lab, NOISE, baseline=baseline))
        assert (first.failed, first.outputs["result"], first.outputs["exit-code"]) == ("", "passed", "0"), first.log
        again = job(github, tmp_path).use(**inputs(lab, NOISE, baseline=baseline))
        assert again.outputs["run-id"] == first.outputs["run-id"]
        assert lab.runs == before + 1
        person, comment = github.issues[PULL_REQUEST]
        assert person["body"] == "A person's word."
        assert first.outputs["url"] in comment["body"]
        assert comment["body"].partition("\n")[2].strip() == again.summary.strip()
        assert "Worse than the baseline: 2 of 30 tasks (2 better)" in again.summary
        document = (tmp_path / "deskarena.xml").read_bytes()
        assert faults(document) == []
        assert (b'name="run.id" value="%s"' % first.outputs["run-id"].encode()) in document
        assert first.obeyed == []

    def test_twenty_points_fewer_fail_the_job(
        self, lab: Lab, github: GitHubComments, baseline: str, tmp_path: Path
    ) -> None:
        done = job(github, tmp_path).use(**inputs(lab, REGRESSION, baseline=baseline))
        assert (done.failed, done.outputs["result"], done.outputs["exit-code"]) == ("Verdict", "failed", "1"), done.log
        assert "Worse than the baseline: 6 of 30 tasks (0 better)" in done.summary
        root = parse(tmp_path / "deskarena.xml").getroot()
        assert root is not None
        assert (root.get("tests"), root.get("failures")) == ("30", "12")

    def test_a_comment_of_another_with_our_marker_stays(
        self, lab: Lab, github: GitHubComments, baseline: str, tmp_path: Path
    ) -> None:
        first = job(github, tmp_path).use(**inputs(lab, BASELINE))
        assert first.failed == "", first.log
        (ours,) = github.issues[PULL_REQUEST]
        forged = {**ours, "user": {"login": "somebody"}}
        github.issues[PULL_REQUEST] = [forged, *({"id": n, "body": "", "user": None} for n in range(2, 120))]
        job(github, tmp_path).use(**inputs(lab, BASELINE))
        assert github.issues[PULL_REQUEST][-1]["user"] == {"login": github.author}
        assert baseline

    def test_a_comment_that_is_refused_is_a_warning(
        self, lab: Lab, github: GitHubComments, baseline: str, tmp_path: Path
    ) -> None:
        github.allowed = False
        done = job(github, tmp_path).use(**inputs(lab, BASELINE))
        assert (done.failed, github.issues) == ("", {})
        assert done.obeyed == ["::warning title=Deskarena::The comment could not be written: HTTPError 403"]
        assert baseline

    @pytest.mark.parametrize(("asked", "failed"), [("false", ""), ("true", "Verdict")])
    def test_an_outage_fails_only_if_asked(
        self, github: GitHubComments, tmp_path: Path, asked: str, failed: str
    ) -> None:
        given = {"server": "http://127.0.0.1:9", "benchmark": "starter", "agent": "random", "command": COMMAND}
        done = job(github, tmp_path).use(**given, patience="0", fail_on_outage=asked)
        assert (done.failed, done.outputs["result"], done.outputs["exit-code"]) == (failed, "no-verdict", "3"), done.log
        assert "No Deskarena service at http://127.0.0.1:9" in done.log
        assert "Exit code 3" in github.issues[PULL_REQUEST][0]["body"]

    @pytest.mark.long
    def test_installs_the_command_line_from_its_own_checkout(self, github: GitHubComments, tmp_path: Path) -> None:
        given = {"server": "http://127.0.0.1:9", "benchmark": "starter", "agent": "random", "patience": "0"}
        done = job(github, tmp_path, PATH=f"{tmp_path / 'deskarena' / 'bin'}:{os.environ['PATH']}").use(**given)
        assert (done.failed, done.outputs["exit-code"]) == ("", "3"), done.log

    def test_sigterm_says_how_to_come_back(self, lab: Lab, github: GitHubComments, tmp_path: Path) -> None:
        def end(process: subprocess.Popen[str], log: str) -> None:
            if "0 solved, 0 running" in log.splitlines()[-1]:
                os.kill(process.pid, signal.SIGTERM)

        lab.rest.set()
        try:
            interrupted = job(github, tmp_path)
            interrupted.watch = end
            done = interrupted.use(**inputs(lab, SLOW))
        finally:
            lab.rest.clear()
        run = done.outputs["run-id"]
        assert (done.outputs["result"], done.outputs["exit-code"]) == ("no-verdict", "130"), done.log
        assert f"Watch the run with `deskarena run watch {run} --server {lab.service.url}`" in done.log
        assert deskarena("run", "watch", run, server=lab.service.url).returncode == 0


@pytest.mark.sampled(1)
class TestWaiting:
    def test_a_frozen_and_a_replaced_server_are_waited_for(self, lab: Lab) -> None:
        lab.rest.set()
        words = [*COMMAND.split(), *SUBMIT, "--param", f"actions_per_step={SLOW}", "--patience", "60"]
        process = subprocess.Popen(
            [*words, "--wait", "--server", lab.service.url], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        with process:
            seen = process.stderr.readline() + process.stderr.readline()
            assert "0/30 ended" in seen
            lab.service.freeze()
            assert "Trying for 60 s." in process.stderr.readline()
            lab.service.stop()
            lab.service.start()
            lab.rest.clear()
            _, rest = process.communicate(timeout=120)
        assert (process.returncode, "completed: 30/30 ended" in rest) == (0, True), rest

    def test_patience_ends_with_3_and_says_how_to_come_back(self, lab: Lab, baseline: str) -> None:
        lab.service.freeze()
        try:
            done = deskarena("run", "watch", baseline, "--patience", "2", server=lab.service.url)
        finally:
            lab.service.thaw()
        assert done.returncode == 3
        assert f"deskarena run watch {baseline}" in done.stderr.splitlines()[-1]

    def test_an_interrupt_cancels_if_asked(self, lab: Lab) -> None:
        lab.rest.set()
        words = [*COMMAND.split(), *SUBMIT, "--param", f"actions_per_step={SLOW}", "--wait", "--cancel-on-interrupt"]
        with subprocess.Popen([*words, "--server", lab.service.url], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            run = process.stderr.readline().partition("run ")[2].partition(":")[0]
            process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
        lab.rest.clear()
        assert (process.returncode, "The run was cancelled." in rest) == (130, True), rest
        assert httpx.get(f"{lab.service.url}/api/v1/runs/{run}", timeout=60).json()["status"] == "cancelled"


class TestGitLab:
    def test_gitlab_script_reports_and_gates(self, lab: Lab, baseline: str, tmp_path: Path) -> None:
        definition = yaml.safe_load(GITLAB.read_text())["deskarena"]
        command = tmp_path / "bin" / "deskarena"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {COMMAND} "$@" --param actions_per_step={REGRESSION}\n')
        command.chmod(0o755)
        environment = {
            **definition["variables"],
            "PATH": f"{command.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "CI_PIPELINE_ID": "9",
            "CI_JOB_NAME": "deskarena",
            "DESKARENA_SERVER": lab.service.url,
            "DESKARENA_AGENT": "random",
            "DESKARENA_BASELINE": baseline,
        }
        words = ["bash", "-eo", "pipefail", "-c", "\n".join(definition["script"])]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert done.returncode not in definition["allow_failure"]["exit_codes"]
        assert faults((tmp_path / definition["artifacts"]["reports"]["junit"]).read_bytes()) == []
        assert (tmp_path / "deskarena.md").read_text().count("Worse than the baseline: 6 of 30 tasks") == 1
