"""Checks beside desktops: evaluators, OCR, agent containers, language models, detectors."""

from backend.cli.doctor.check import CheckState, CheckWords, DoctorCheck
from backend.cli.doctor.trials import Trials

EVALUATORS = CheckWords(
    name="evaluators",
    works="episodes are scored in a sandbox, including user-defined evaluation functions",
    lacks="tasks with evaluation functions in Python cannot be scored; others only if a child "
    "process could be started at all",
    install="apt install bubblewrap; allow user namespaces (see sandbox)",
)
OCR = CheckWords(
    name="ocr",
    works="observations can mark the text of a screen",
    lacks="observations that mark text are not available",
    install="apt install tesseract-ocr",
)
CONTAINERS = CheckWords(
    name="containers",
    works="agents can come as container images",
    lacks="no agents in containers",
    install="install and start Docker or Podman, and allow this user to use it (docs/bring-an-agent.md)",
)
MODELS = CheckWords(
    name="models",
    works="agents can use language models: each endpoint that has its key lists its models",
    lacks="agents that use a language model cannot run, or wait for an endpoint that does not respond",
    install="see docs/models.md",
)
DETECTORS = CheckWords(
    name="detectors",
    works="observations can mark the elements that detectors find",
    lacks="observations with these detectors are not available",
    install="start the servers that DESKARENA_DETECTORS names, or change it",
)


def helpers(trials: Trials) -> list[DoctorCheck]:
    """All of these checks; detectors only if some are configured."""
    checks = [trials.check(probe) for probe in (EVALUATORS, OCR, CONTAINERS, MODELS, DETECTORS)]
    return [check for check in checks if check.name != DETECTORS.name or check.state is not CheckState.MISSING]
