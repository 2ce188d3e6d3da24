"""`python -m worker.commands.examine [JSON]`: tests what a worker on this machine can do by using it once.

Started by `deskarena doctor`. Prints one JSON object: name -> `state` (`ok`, `missing`, `broken`, `untried`) and
`detail`. Workers use the same tests to determine their capabilities. Takes a few seconds; each test is bounded and
removes what it creates.

The argument has programs: `{"editor": ["mousepad", "--version"]}`.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import Any

from backend.config import Settings, get_settings
from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, MachineLost
from worker.agents.container_trial import ContainerTrial
from worker.agents.containers import Engine
from worker.evaluation.evaluator import Evaluator
from worker.local import wine
from worker.models.model_pool import ModelPool
from worker.perception import ocr
from worker.perception.element_detectors import Detectors
from worker.providers.local import LocalProvider
from worker.providers.local_trial import NOT_TRIED

SECONDS = 90.0
"""Time limit on a very slow machine; usually it takes about 5 s."""
OK, MISSING, BROKEN, UNTRIED = "ok", "missing", "broken", "untried"
LOCAL, OVERLAY, CGROUPS, TREE, WINE = "local desktop", "overlay", "cgroups", "accessibility", "wine"
_NO_DESKTOP = "no local desktop could be created to test it in"
_DETECTOR_SECONDS = 10.0
Programs = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class TrialFinding:
    """Result of a test."""

    state: str
    detail: str


Findings = dict[str, TrialFinding]


def examine(settings: Settings, programs: Programs, seconds: float = SECONDS) -> Findings:
    """Runs all tests in parallel, within the time limit."""
    registry.load("worker.models")
    local = LocalProvider(settings)
    single: Mapping[str, Callable[[], TrialFinding]] = {
        WINE: lambda: try_wine(local),
        "ocr": try_ocr,
        "containers": try_containers,
        "models": lambda: try_models(settings),
        "detectors": lambda: try_detectors(settings),
        "evaluators": try_evaluators,
    }
    pool = ThreadPoolExecutor(max_workers=len(single) + 1)
    desktop = pool.submit(try_local_desktop, local, programs)
    coming = {name: pool.submit(guard, trial) for name, trial in single.items()}
    every: list[Future[Any]] = [desktop, *coming.values()]
    wait(every, seconds)
    late = TrialFinding(BROKEN, f"it did not finish within {seconds:g} s")
    findings = desktop.result() if desktop.done() else _no_desktop(late, programs)
    findings |= {name: check.result() if check.done() else late for name, check in coming.items()}
    # What is still being created ends with its supervisor.
    local.close()
    pool.shutdown()
    return findings


def guard(trial: Callable[[], TrialFinding]) -> TrialFinding:
    """An exception in one test does not affect the others."""
    try:
        return trial()
    except Exception as error:  # noqa: BLE001 - whatever it is, it keeps this from being used.
        return TrialFinding(BROKEN, f"{type(error).__name__}: {error}")


def try_local_desktop(local: LocalProvider, programs: Programs) -> Findings:
    """Creates a desktop, and uses it, its home, its limits, its accessibility tree and the programs in it."""
    try:
        trial = local.trial(programs)
    except Exception as error:  # noqa: BLE001 - as `guard`.
        words = error.text if isinstance(error, MachineLost) else f"{type(error).__name__}: {error}"
        return _no_desktop(TrialFinding(BROKEN, words), programs)
    details = trial.details
    return {
        LOCAL: TrialFinding(OK, f"created in {details['seconds']['made']:.1f} s; its screen was captured"),
        OVERLAY: _home(details["home"], details["notes"]),
        CGROUPS: _limits(details["limits"], details["notes"]),
        TREE: _tree(trial.no_tree),
        **{name: _program(trial.broken.get(name, "")) for name in programs},
    }


def _no_desktop(finding: TrialFinding, programs: Programs) -> Findings:
    return {LOCAL: finding, **dict.fromkeys((OVERLAY, CGROUPS, TREE, *programs), TrialFinding(UNTRIED, _NO_DESKTOP))}


def _home(kind: str, notes: Iterable[str]) -> TrialFinding:
    return TrialFinding(OK if kind == "overlay" else BROKEN, "; ".join((f"home: {kind}", *_about("home", notes))))


def _tree(problem: str) -> TrialFinding:
    if not problem:
        return TrialFinding(OK, "a window and its button were in the tree")
    return TrialFinding(UNTRIED if problem.startswith(NOT_TRIED) else BROKEN, problem)


def _limits(limits: Mapping[str, str], notes: Iterable[str]) -> TrialFinding:
    by_group = limits["memory"].startswith("cgroup")
    words = ", ".join(f"{resource} by {limits[resource]}" for resource in ("memory", "processes", "cpu"))
    bad = _about("control group", notes)
    return TrialFinding(OK if by_group else BROKEN if bad else MISSING, "; ".join((words, *bad)))


def _about(message: str, notes: Iterable[str]) -> list[str]:
    return [note for note in notes if message in note]


def _program(problem: str) -> TrialFinding:
    return (
        TrialFinding(BROKEN, f"it does not start in a desktop: {problem}")
        if problem
        else TrialFinding(OK, "it starts in a desktop")
    )


def try_wine(local: LocalProvider) -> TrialFinding:
    """Runs Python for Windows in a desktop."""
    if problem := wine.why_not(local.wine_folder):
        return TrialFinding(MISSING if wine.loader() is None else BROKEN, problem)
    version = f"Wine {wine.version()}"
    problem = local.wine_trial()
    return (
        TrialFinding(BROKEN, f"{version}: {problem}")
        if problem
        else TrialFinding(OK, f"{version}: Python for Windows ran in a desktop")
    )


def try_ocr() -> TrialFinding:
    """Reads the text of a picture."""
    problem = ocr.why_not()
    state = OK if not problem else MISSING if ocr.tesseract() is None else BROKEN
    return TrialFinding(state, problem or "it read the text of a picture")


def try_containers() -> TrialFinding:
    """Runs a container."""
    engine = Engine()
    problem = ContainerTrial(engine).why_not()
    state = OK if not problem else BROKEN if engine.program else MISSING
    return TrialFinding(state, problem or f"{engine.program} ran our test container")


def try_models(settings: Settings) -> TrialFinding:
    """All configured endpoints; one without its key is not."""
    offers = {
        name: offer for name, offer in ModelPool.from_settings(settings).offers(vendors=True).items() if offer["ok"]
    }
    if not offers:
        return TrialFinding(MISSING, "no endpoint is configured")
    bad = [f"{name}: {offer['reason']}" for name, offer in offers.items() if offer["answers"] is False]
    good = [name for name, offer in offers.items() if offer["answers"]]
    unasked = [name for name, offer in offers.items() if offer["answers"] is None]
    words = [
        *bad,
        *([f"{', '.join(good)} responded"] if good else []),
        *([f"{', '.join(unasked)} not contacted"] if unasked else []),
    ]
    return TrialFinding(BROKEN if bad else OK if good else UNTRIED, "; ".join(words))


def try_detectors(settings: Settings) -> TrialFinding:
    """Asks all configured detectors."""
    if not settings.detectors:
        return TrialFinding(MISSING, "none is configured")
    detectors = Detectors(settings.detectors, seconds=_DETECTOR_SECONDS)
    bad = [reason for name in sorted(settings.detectors) if (reason := detectors.why_not(name))]
    return (
        TrialFinding(BROKEN, "; ".join(bad))
        if bad
        else TrialFinding(OK, f"{', '.join(sorted(settings.detectors))} responded")
    )


def try_evaluators() -> TrialFinding:
    """Starts an evaluator in the sandbox."""
    try:
        fence = Evaluator().sandbox
    except EvaluatorFailed as error:
        return TrialFinding(BROKEN, error.message)
    return TrialFinding(OK if fence.has_view else BROKEN, f"a child ran in the sandbox {fence.value}")


def main() -> int:
    programs: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    findings = examine(get_settings(), programs)
    sys.stdout.write(json.dumps({name: asdict(finding) for name, finding in findings.items()}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
