"""Runs a composite GitHub action by its own steps, as GitHub's runner does: bash -eo pipefail, files for outputs."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
PULL_REQUEST = 7


@dataclass
class ActionResult:
    """Result of an action, as its job sees it.

    Attributes:
        failed: name of the step that failed; empty if none did.
        log: what the steps printed.
        summary: the job's summary page.
    """

    failed: str = ""
    log: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def obeyed(self) -> list[str]:
        """Lines of the log that the runner takes for commands."""
        obeyed, stopped = [], ""
        for line in self.log.splitlines():
            if stopped:
                stopped = "" if line == f"::{stopped}::" else stopped
            elif line.startswith("::stop-commands::"):
                stopped = line.removeprefix("::stop-commands::")
            elif line.startswith("::"):
                obeyed.append(line)
        return obeyed


@dataclass
class GitHubJob:
    """A job for a pull request that uses one action.

    Attributes:
        action: folder of the action.
        work: an empty folder.
        api: address of GitHub's REST API.
        variables: more of the environment.
        watch: is called with each running step's process and what it has printed so far, line after line.
    """

    action: Path
    work: Path
    api: str
    variables: Mapping[str, str] = field(default_factory=dict)
    watch: Callable[[subprocess.Popen[str], str], None] = lambda _process, _log: None

    def use(self, **inputs: str) -> ActionResult:
        """Runs the action. Underscores of names stand for hyphens."""
        definition = yaml.safe_load((self.action / "action.yml").read_text())
        inputs_by_name = {name.replace("_", "-"): value for name, value in inputs.items()}
        names: dict[str, str] = {"github.token": self.variables.get("GITHUB_TOKEN", "")}
        for name, spec in definition["inputs"].items():
            names[f"inputs.{name}"] = inputs_by_name.get(name, expand(spec.get("default", ""), names))
        result = ActionResult()
        for number, step in enumerate(definition["runs"]["steps"]):
            if not holds(step.get("if", ""), names):
                continue
            code, outputs = self._step(number, step, names, result)
            names |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in outputs.items()}
            if code:
                result.failed = step["name"]
                break
        result.outputs = {name: expand(spec["value"], names) for name, spec in definition["outputs"].items()}
        return result

    def _step(
        self, number: int, step: Mapping[str, Any], names: Mapping[str, str], result: ActionResult
    ) -> tuple[int, dict[str, str]]:
        script, output, summary = (self.work / f"{name}-{number}" for name in ("step", "output", "summary"))
        script.write_text(step["run"])
        output.write_text("")
        summary.write_text("")
        event = self.work / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": PULL_REQUEST}}))
        own = {name: expand(value, names) for name, value in step.get("env", {}).items()}
        environment = {
            "PATH": os.environ["PATH"],
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_API_URL": self.api,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_JOB": "measure",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_PATH": str(self.work / "path"),
            "GITHUB_REPOSITORY": "lab/agent",
            "GITHUB_RUN_ID": "123",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKFLOW": "nightly",
            "RUNNER_TEMP": str(self.work),
            **self.variables,
            **own,
        }
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        with subprocess.Popen(
            words, cwd=self.work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                result.log += line
                self.watch(process, result.log)
        result.summary += summary.read_text()
        pairs = (line.partition("=") for line in output.read_text().splitlines())
        return process.returncode, {name: value for name, _, value in pairs}


def expand(text: str, names: Mapping[str, str]) -> str:
    """The text with the values of its expressions; an unknown name is empty, as on GitHub."""
    return EXPRESSION.sub(lambda match: names.get(match[1], ""), text)


def holds(condition: str, names: Mapping[str, str]) -> bool:
    """Value of `name == 'text'`; true if there is no condition."""
    if not condition:
        return True
    name, equal, text = condition.partition(" == ")
    assert equal, condition
    return names.get(name, "") == text.strip("'")
