"""Values of the Windows registry, as `reg query` prints them."""

import re
from collections.abc import Sequence

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import as_json, json_value
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

_LINE = re.compile(r"^ {4}(?P<name>\S.*?) {4}(?P<type>REG_[A-Z_]+)(?: {4}(?P<data>.*))?$")
_ABSENT = 1
NUMBERS = frozenset({"REG_DWORD", "REG_QWORD"})


def query_registry(context: SetupContext, key: str, name: str) -> Blob:
    """The output of `reg` for one value. Queries the registry itself, because its files are written late."""
    try:
        result = context.desktop.execute(["reg", "query", key, "/v", name])
    except GuestRefused as error:
        return Blob(name=f"{key}\\{name}", note=f"the registry cannot be queried: {error.message}")
    reply = {"returncode": result.returncode, "output": result.output, "error": result.error}
    return as_json(f"{key}\\{name}", reply)


def text(blob: Blob) -> str | None:
    """The value: text verbatim, numbers in decimal, binary data in hex. None if the value does not exist.

    Raises:
        EvaluatorFailed: the registry could not be queried.
    """
    reply = json_value(blob)
    if not isinstance(reply, dict) or not isinstance(reply.get("output"), str):
        raise EvaluatorFailed(f"the evidence of {blob.name} is damaged", code="evidence_damaged")
    if reply.get("returncode") == _ABSENT:
        return None
    name = blob.name.rpartition("\\")[2].lower()
    for line in reply["output"].splitlines():
        match = _LINE.match(line)
        if reply["returncode"] == 0 and match and match["name"].lower() == name:
            data = (match["data"] or "").strip()
            return str(int(data, 0)) if match["type"] in NUMBERS else data
    raise EvaluatorFailed(
        f"{blob.name} could not be read: {reply.get('error') or 'no such value in the answer'}",
        code="evidence_unreadable",
    )


def texts(blobs: Sequence[Blob], number: int) -> list[str | None]:
    """Several values, in order. Raises EvaluatorFailed if the registry could not be queried."""
    if len(blobs) != number:
        raise EvaluatorFailed(
            f"{number} values of the registry were requested, {len(blobs)} were collected", code="evidence_mismatch"
        )
    return [text(blob) for blob in blobs]
