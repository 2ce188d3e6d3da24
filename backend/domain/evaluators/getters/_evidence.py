"""What getters share: parameters that are checked by a model, evidence as JSON, files for metrics."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any, ClassVar

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.desktop import SetupContext

JSON_TYPE = "application/json"
MAX_NOTE = 500
ABSENT = frozenset({"not_found", "forbidden", "bad_request", "too_large"})
"""How a desktop refuses what is not there, not readable, no file, or huge: that is what the agent left.

Whatever else it says (`timeout`, `failed` for a broken disk or want of memory, `internal`) leaves the question open.
"""
NO_ROUTE = "no such route"
"""Part of the guest server's message for a route that it does not have; its kind is `not_found`, too."""


class ParameterGetter:
    """Base of a getter: its parameters are those of the model `Params`."""

    Params: ClassVar[type[Parameters]] = Parameters

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        self.Params.of(parameters)


def only(blobs: Sequence[Blob]) -> Blob:
    """The one blob that was gathered.

    Raises:
        EvaluatorFailed: there are more, or none.
    """
    if len(blobs) != 1:
        raise EvaluatorFailed(f"expected one piece of evidence, got {len(blobs)}", code="evidence_mismatch")
    return blobs[0]


def as_json(name: str, value: Any, note: str = "") -> Blob:
    """Evidence that is a JSON value."""
    return Blob(name=name, data=json.dumps(value).encode(), media_type=JSON_TYPE, note=note)


def stated(blob: Blob) -> Any:
    """The JSON value that a blob holds.

    Raises:
        EvaluatorFailed: it holds none; says why.
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
    """Evidence that there is no such thing, the guest's words as its note.

    Args:
        name: of the evidence.
        error: how the guest refused.
        kinds: of refusals that are facts about what the agent left.

    Raises:
        GuestRefused: it is of another kind, so that the thing could not be asked for: never an absence, as that is
            judged and may give 0.
    """
    if error.kind not in kinds or NO_ROUTE in error.message:
        raise error
    return Blob(name=name, note=error.message)


def fetched(context: SetupContext, path: str) -> Blob:
    """A file of the desktop; without data, and with a note, if there is none. Raises as `absence`."""
    try:
        return Blob(name=path, data=context.desktop.read_file(path))
    except GuestRefused as error:
        return absence(path, error)


def first_of(context: SetupContext, paths: Sequence[str]) -> Blob:
    """The first of several files that is there; else the first one's absence."""
    blobs = [fetched(context, paths[0])]
    for path in paths[1:]:
        if blobs[-1].data is not None:
            return blobs[-1]
        blobs.append(fetched(context, path))
    return blobs[-1] if blobs[-1].data is not None else blobs[0]


def placed(blob: Blob, name: str, folder: Path) -> str | None:
    """Writes a blob as a file called `name` below `folder`; its path, None if the thing was absent."""
    if blob.data is None:
        return None
    target = folder / safe_name(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(blob.data)
    return str(target)


def safe_name(name: str) -> str:
    """The last part of a file's name: folders in it, of either system, are dropped."""
    last = PurePath(PureWindowsPath(name).name).name
    return last if last not in {"", ".", ".."} else "file"


def python_says(context: SetupContext, name: str, code: str, **values: Any) -> Blob:
    """What Python source that runs in the desktop prints, which should be JSON.

    Args:
        context: of the attempt.
        name: of the evidence.
        code: its source; `VALUES` there is a dictionary of `values`. They are handed over as JSON, never as source.
        **values: what it needs to know.

    Raises:
        GuestRefused: it took too long, or Python could not be started just now. Any other refusal is without data, of
            which `stated` says that nothing is known.
    """
    head = f"import json\nVALUES = json.loads({json.dumps(json.dumps(values))})\n"
    try:
        done = context.desktop.run_python(head + code)
    except GuestRefused as error:
        if error.may_pass:
            raise
        return Blob(name=name, note=error.message)
    if done.returncode != 0:
        return Blob(name=name, note=f"exit code {done.returncode}: {done.error.strip()[-MAX_NOTE:]}")
    return Blob(name=name, data=done.output.encode(), media_type=JSON_TYPE)
