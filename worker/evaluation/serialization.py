"""Transfer of a task and its evidence to the child: one line of JSON, and a folder with a file per blob."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.evaluate import CallEvidence, GatherFailure
from backend.domain.model.score import Blob
from backend.domain.model.task import Task

M = TypeVar("M", bound=BaseModel)


def pack(task: Task, evidence: Sequence[CallEvidence], folder: Path, **more: Any) -> bytes:
    """Writes the blobs to `folder` and returns the line of JSON that refers to them.

    Args:
        task: the task.
        evidence: of all its calls, or of those of one part.
        folder: readable by the child.
        more: additional JSON values of the request: `part`, `ended_by`, `place` (folder within what the child reads).
    """
    calls = [
        {
            "result": _write(call.result, folder, f"{position}-result"),
            "expected": _write(call.expected, folder, f"{position}-expected"),
            "notes": list(call.notes),
            "step": call.step,
            "opened": call.opened,
            "failures": [failure.model_dump() for failure in call.failures],
        }
        for position, call in enumerate(evidence)
    ]
    return json.dumps({"task": task.model_dump(mode="json"), "evidence": calls, **more}).encode()


def read_verdict(answer: Mapping[str, Any], form: type[M]) -> M:
    """The verdict in the child's answer. Raises EvaluatorFailed if it has none."""
    if "failed" in answer:
        raise EvaluatorFailed(str(answer["failed"]), code=str(answer["code"]))
    try:
        return form.model_validate(answer)
    except ValidationError as error:
        raise EvaluatorFailed(
            f"the evaluator returned an invalid verdict: {error}", code="evaluator_crashed"
        ) from error


def _write(blobs: tuple[Blob, ...] | None, folder: Path, stem: str) -> list[dict[str, Any]] | None:
    if blobs is None:
        return None
    described = []
    for part, blob in enumerate(blobs):
        file = None
        if blob.data is not None:
            file = f"{stem}-{part}"
            path = folder / file
            path.write_bytes(blob.data)
            path.chmod(0o644)
        described.append({"name": blob.name, "media_type": blob.media_type, "note": blob.note, "file": file})
    return described


def unpack(request: Mapping[str, Any], folder: Path) -> tuple[Task, list[CallEvidence]]:
    """Reverse of `pack`, in the child."""
    calls = [
        CallEvidence(
            result=_read(call["result"], folder),
            expected=_read(call["expected"], folder),
            notes=tuple(call["notes"]),
            step=call["step"],
            opened=call["opened"],
            failures=tuple(GatherFailure(**failure) for failure in call["failures"]),
        )
        for call in request["evidence"]
    ]
    return Task.model_validate(request["task"]), calls


def _read(described: list[dict[str, Any]] | None, folder: Path) -> tuple[Blob, ...] | None:
    if described is None:
        return None
    return tuple(
        Blob(
            name=blob["name"],
            media_type=blob["media_type"],
            note=blob["note"],
            data=None if blob["file"] is None else (folder / blob["file"]).read_bytes(),
        )
        for blob in described
    )
