"""Queries routes of the guest API, and distinguishes "no" from "unknown".

WAA's guest server answers its checks with 200 or 400. Through the guest API, "no" is a refusal of kind `not_found` or
`no`. Any other refusal (an unknown route, a failed program) leaves the question open, so that there is no verdict.
"""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import NO_ROUTE, as_json, json_value
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

NO = frozenset({"not_found", "no"})


def ask_route(
    context: SetupContext, route: str, payload: Mapping[str, Any] | None = None, *, method: str = "POST"
) -> Blob:
    """The answer of a route, or its refusal, as evidence."""
    try:
        answer = context.desktop.call(method, route, payload)
    except GuestRefused as error:
        return as_json(route, {"refused": error.kind, "message": error.message})
    return as_json(route, {"answer": answer})


def answer(blob: Blob) -> Any:
    """The answer of a route; None if it was "no".

    Raises:
        EvaluatorFailed: the answer is unknown.
    """
    reply = json_value(blob)
    if not isinstance(reply, dict):
        raise EvaluatorFailed(f"the evidence of {blob.name} is damaged", code="evidence_damaged")
    if "answer" in reply:
        return reply["answer"]
    if reply.get("refused") in NO and NO_ROUTE not in str(reply.get("message", "")):
        return None
    raise EvaluatorFailed(
        f"the desktop did not answer {blob.name}: {reply.get('message') or reply.get('refused')}",
        code="evidence_unreadable",
    )


def agreed(blob: Blob) -> bool:
    """Whether the route answered yes. Raises EvaluatorFailed if the answer is unknown."""
    return answer(blob) is not None


def text_at(blob: Blob, key: str) -> str:
    """The text under a key of the answer. Raises EvaluatorFailed if it is missing."""
    reply = answer(blob)
    if not isinstance(reply, dict) or not isinstance(reply.get(key), str):
        raise EvaluatorFailed(f"the guest's answer to {blob.name} has no `{key}`", code="evidence_unreadable")
    return str(reply[key])
