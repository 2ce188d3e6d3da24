"""`If-Match` on what people edit: a change names the state that it is based on, so that no unseen edit is overwritten.

Source: RFC 9110, section 13.1.1; RFC 6585, section 3.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Header, Response

from backend.domain.errors import DeskarenaError
from backend.services.read_model import ReadModel
from backend.web.conditional_requests import is_known, tag_of
from backend.web.problem import PROBLEM_TYPE

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=500,
        description="`ETag` of the state that is changed, from GET or the last change; `*` overwrites any state.",
        examples=["*"],
    ),
]
EDITED: dict[int | str, dict[str, Any]] = {
    412: {"description": "It was changed in the meantime.", "content": {PROBLEM_TYPE: {}}},
    428: {"description": "`If-Match` is missing.", "content": {PROBLEM_TYPE: {}}},
}
"""Errors of such a change."""
T = TypeVar("T", bound=ReadModel)


class MatchNeeded(DeskarenaError):
    """The request does not name the state that it changes (428)."""

    status = 428
    code = "if_match_required"


class ChangedMeanwhile(DeskarenaError):
    """Somebody has changed it since (412)."""

    status = 412
    code = "changed_meanwhile"


def check_match(if_match: str | None, current: Callable[[], ReadModel]) -> None:
    """Refuses a change of another state than the current one.

    Args:
        if_match: the header.
        current: locks what is changed and returns it as GET shows it.

    Tags are compared weakly, because all of ours are weak: an answer may be compressed.

    Raises:
        MatchNeeded: there is no `If-Match`.
        ChangedMeanwhile: it names another state.
    """
    if if_match is None:
        raise MatchNeeded(
            "the request does not name the state that it changes",
            hint="Send the ETag of the last GET as If-Match, or `*` to overwrite any state.",
        )
    if if_match.strip() != "*" and not is_known(tag_of_state(current()), if_match):
        raise ChangedMeanwhile(
            "it was changed in the meantime", hint="Get it again, and repeat the change on its new state."
        )


def tagged(response: Response, current: T) -> T:
    """The new state, with its tag in the answer, so that it can be changed again."""
    response.headers["ETag"] = tag_of_state(current)
    return current


def tag_of_state(current: ReadModel) -> str:
    """The tag of a state, as `ETag` has it."""
    return tag_of(current.model_dump_json(by_alias=True).encode())
