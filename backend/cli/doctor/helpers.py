"""What runs beside desktops: what judges, what reads text, containers of agents, language models, detectors."""

from backend.cli.doctor.check import CheckState, CheckWords, DoctorCheck
from backend.cli.doctor.trials import Trials

EVALUATORS = CheckWords(
    name="evaluators",
    works="episodes are scored behind a fence, also by functions that others wrote",
    lacks="tasks with evaluation functions in Python cannot be scored; others only if a child could be started at all",
    install="apt install bubblewrap; allow user namespaces (see sandbox)",
)
OCR = CheckWords(
    name="ocr",
    works="observations can mark the text of a screen",
    lacks="observations that mark text are not to be had",
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
    works="agents can ask language models: each endpoint that has its key lists its models",
    lacks="agents that ask a language model cannot run, or wait for one that does not answer",
    install="see docs/models.md",
)
DETECTORS = CheckWords(
    name="detectors",
    works="observations can mark what element detectors find",
    lacks="observations that ask these detectors are not to be had",
    install="start the servers that DESKARENA_DETECTORS names, or change it",
)


def helpers(trials: Trials) -> list[DoctorCheck]:
    """All of them; detectors only where some are set up."""
    checks = [trials.check(probe) for probe in (EVALUATORS, OCR, CONTAINERS, MODELS, DETECTORS)]
    return [check for check in checks if check.name != DETECTORS.name or check.state is not CheckState.MISSING]
