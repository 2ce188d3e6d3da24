"""Shared parts of getters: validated parameters, evidence as JSON, files for metrics."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any, ClassVar

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

JSON_TYPE = "application/json"
MAX_NOTE = 500
ABSENT = frozenset({"not_found", "forbidden", "bad_request", "too_large"})
"""Refusals that describe the end state: not there, not readable, not a file, too large.

Any other refusal (`timeout`, `failed` for a broken disk or low memory, `internal`) leaves the question open.
"""
NO_ROUTE = "no such route"
"""Part of the guest server's message for an unknown route, whose kind is also `not_found`."""


class ParameterGetter:
    """Base of a getter whose parameters are validated by the model `Params`."""

    Params: ClassVar[type[Parameters]] = Parameters

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        self.Params.parse(parameters)


def only(blobs: Sequence[Blob]) -> Blob:
    """The only blob.

    Raises:
        EvaluatorFailed: there is not exactly one.
    """
    if len(blobs) != 1:
        raise EvaluatorFailed(f"expected one piece of evidence, got {len(blobs)}", code="evidence_mismatch")
    return blobs[0]


def as_json(name: str, value: Any, note: str = "") -> Blob:
    """Evidence that is a JSON value."""
    return Blob(name=name, data=json.dumps(value).encode(), media_type=JSON_TYPE, note=note)


def json_value(blob: Blob) -> Any:
    """The JSON value in a blob.

    Raises:
        EvaluatorFailed: it has none; the message says why.
    """
    if blob.data is None:
        raise EvaluatorFailed(
            f"{blob.name} could not be read: {blob.note or 'no reason given'}", code="evidence_unreadable"
        )
    try:
        return json.loads(blob.data)
    except ValueError as error:
        raise EvaluatorFailed(
            f"the evidence of {blob.name} is truncated or damaged: {error}", code="evidence_damaged"
        ) from error


def absence(name: str, error: GuestRefused, kinds: Collection[str] = ABSENT) -> Blob:
    """Evidence that something does not exist, with the guest's message as its note.

    Args:
        name: name of the evidence.
        error: the guest's refusal.
        kinds: kinds of refusals that describe the end state.

    Raises:
        GuestRefused: the refusal is of another kind, so that existence is unknown. Recorded as absence, it could
            wrongly give 0.
    """
    if error.kind not in kinds or NO_ROUTE in error.message:
        raise error
    return Blob(name=name, note=error.message)


def fetch_file(context: SetupContext, path: str) -> Blob:
    """A file of the desktop; without data and with a note if it does not exist. Raises as `absence`."""
    try:
        return Blob(name=path, data=context.desktop.read_file(path))
    except GuestRefused as error:
        return absence(path, error)


def first_of(context: SetupContext, paths: Sequence[str]) -> Blob:
    """The first file that exists; else the absence of the first one."""
    blobs = [fetch_file(context, paths[0])]
    for path in paths[1:]:
        if blobs[-1].data is not None:
            return blobs[-1]
        blobs.append(fetch_file(context, path))
    return blobs[-1] if blobs[-1].data is not None else blobs[0]


def write_blob(blob: Blob, name: str, folder: Path) -> str | None:
    """Writes a blob as a file `name` below `folder`; its path, or None for an absent blob."""
    if blob.data is None:
        return None
    target = folder / safe_name(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(blob.data)
    return str(target)


def safe_name(name: str) -> str:
    """The last part of a file's name, without folders of either system."""
    last = PurePath(PureWindowsPath(name).name).name
    return last if last not in {"", ".", ".."} else "file"


def python_says(context: SetupContext, name: str, code: str, **values: Any) -> Blob:
    """The output of Python source that runs in the desktop and should print JSON.

    Args:
        context: the attempt's context.
        name: name of the evidence.
        code: its source; `VALUES` there is a dictionary of `values`. They are passed as JSON, never as source.
        **values: input of the code.

    Raises:
        GuestRefused: it timed out, or Python could not be started. Any other refusal gives a blob without data, for
            which `json_value` raises.
    """
    head = f"import json\nVALUES = json.loads({json.dumps(json.dumps(values))})\n"
    try:
        result = context.desktop.run_python(head + code)
    except GuestRefused as error:
        if error.may_pass:
            raise
        return Blob(name=name, note=error.message)
    if result.returncode != 0:
        return Blob(name=name, note=f"exit code {result.returncode}: {result.error.strip()[-MAX_NOTE:]}")
    return Blob(name=name, data=result.output.encode(), media_type=JSON_TYPE)
