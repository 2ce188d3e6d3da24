"""Tasks, evidence and places with misbehaving metrics, for the tests of this folder."""

import shutil
import sys
from pathlib import Path
from typing import Any

import backend
import worker
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.score import Blob
from backend.domain.model.task import EvaluatorSpec, MetricCall, Task, TaskKey
from worker.evaluation.limits import ChildLimits
from worker.evaluation.sandbox import SandboxPaths, here

LIMITS = ChildLimits(wall=20.0, cpu=10, memory=2**30)


def task_with(func: str, **options: Any) -> Task:
    """A task whose one metric compares a file of the desktop with a rule."""
    call = MetricCall(
        func=func,
        result={"type": "vm_command_line", "command": "cat /note"},
        expected={"type": "rule", "rules": {"expected": "hello"}},
        options=options,
    )
    return Task(
        key=TaskKey(domain="d", name=func),
        dialect="starter",
        instruction="say hello",
        evaluator=EvaluatorSpec(calls=(call,)),
    )


def said(text: str | None) -> list[CallEvidence]:
    """Evidence that the command printed `text`."""
    blob = Blob(name="cat /note", data=None if text is None else text.encode())
    return [CallEvidence(result=(blob,), expected=())]


def place_with(folder: Path, name: str, body: str) -> SandboxPaths:
    """A copy of our packages with one more metric `name` with this function body."""
    for package in (backend, worker):
        source = Path(next(iter(package.__path__)))
        wanted = ("domain",) if package is backend else ("evaluation",)
        target = folder / source.name
        target.mkdir()
        shutil.copy(source / "__init__.py", target)
        for part in wanted:
            shutil.copytree(source / part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
    metric = (
        "from backend.domain.registry import PluginKind, register\n"
        "from backend.domain.model.score import MetricValue\n\n"
        f'@register(PluginKind.METRIC, "{name}")\n'
        f"def {name}(result, rules, **options):\n"
        + "".join(f"    {line}\n" for line in body.strip().splitlines())
        + "    return MetricValue(value=1.0)\n"
    )
    (folder / "backend" / "domain" / "evaluators" / "metrics" / f"{name}.py").write_text(metric)
    folder.chmod(0o755)
    ours = {Path(next(iter(package.__path__))).resolve() for package in (backend, worker)}
    kept = tuple(path for path in here().readable if path not in ours)
    return SandboxPaths(sys.executable, folder, (*kept, folder / "backend", folder / "worker"))
