"""The process that reads evidence and runs metrics: `python -m worker.evaluation.child`.

It has no environment, no database, no network and limits on everything; it reads one request from its standard input
and writes one JSON object to its standard output: an Evaluation, or `{"failed": message, "code": code}`. With `--looks`
it answers one line after the other, each with a MetricValue: the current result of a part. If an evaluation function
needs missing evidence, the answer has `missing`.
"""

import argparse
import io
import json
import os
import sys
import tempfile
from pathlib import Path

from worker.evaluation.limits import ChildLimits, apply, collect_seldom, forbid_network


def main() -> int:
    """Drops privileges, waits for the request and answers. Returns the exit code: 0 with an answer of either kind."""
    options = _options()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a library prints must not end up in the answer.
    apply(ChildLimits(**json.loads(options.limits)), options.uid)
    # Importing takes most of a second, so it happens while the agent still works.
    from backend.domain.errors import DeskarenaError, MissingEvidence
    from backend.domain.evaluators.user_functions import allow
    from worker.evaluation.code_cache import load_evaluators
    from worker.evaluation.user_functions import run_apart

    load_evaluators()
    if options.foreign:
        allow(run_apart)
    collect_seldom()
    forbid_network()
    for text in sys.stdin.buffer if options.looks else (sys.stdin.buffer.read(),):
        if not text:
            return 0  # The worker decided without us.
        try:
            answer = _answer(text, options.evidence)
        except MissingEvidence as error:
            answer = json.dumps({"failed": error.message, "code": error.code, "missing": error.facts})
        except DeskarenaError as error:
            answer = json.dumps({"failed": error.message, "code": error.code})
        answers.write(answer + "\n")
        answers.flush()
    answers.close()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evidence", type=Path, required=True)
    parser.add_argument("--limits", default="{}")
    parser.add_argument("--uid", type=int, default=None)
    parser.add_argument("--looks", action="store_true")
    parser.add_argument("--foreign", action="store_true")
    return parser.parse_args()


def _answer(text: bytes, evidence_folder: Path) -> str:
    if text == b"probe":
        return json.dumps(_probe())
    from backend.domain.evaluators.evaluate import evaluate, evaluate_part
    from backend.domain.model.episode import EndedBy
    from worker.evaluation.serialization import unpack

    request = json.loads(text)
    task, evidence = unpack(request, evidence_folder / request.get("place", ""))
    with tempfile.TemporaryDirectory() as folder:
        if "part" in request:
            part = next(part for part in task.evaluator.parts if part.name == request["part"])
            return evaluate_part(task, part, evidence, Path(folder)).model_dump_json()
        ended_by = EndedBy(request.get("ended_by", EndedBy.DONE))
        return evaluate(task, evidence, Path(folder), ended_by=ended_by).model_dump_json()


def _probe() -> dict[str, object]:
    """Properties of this process; requested once when the worker starts."""
    import socket

    networks = [name for _, name in socket.if_nameindex() if name != "lo"]
    return {"uid": os.getuid(), "networks": networks}


if __name__ == "__main__":
    sys.stdin = io.TextIOWrapper(sys.stdin.buffer)
    sys.exit(main())
