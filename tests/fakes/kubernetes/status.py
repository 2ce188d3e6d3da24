"""Refusals as the real API server words them: `Status` objects with code, reason, message and details."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.fakes.kubernetes.kinds import Json, Resource


@dataclass(frozen=True)
class StatusCause:
    """One of several things that are wrong with an object.

    Attributes:
        reason: as `FieldValueInvalid`.
        message: as `Invalid value: "x": must be ...`.
    """

    reason: str
    message: str
    field: str

    def line(self) -> str:
        """How it reads in the sentence of the whole."""
        return f"{self.field}: {self.message}" if self.field else self.message

    def body(self) -> Json:
        """How it reads in the details."""
        return {"reason": self.reason, "message": self.message, "field": self.field}


@dataclass
class Refusal(Exception):
    """A request that is answered with an error.

    Attributes:
        plain: it comes from before the API itself: its message is all that is answered, as text.
    """

    code: int
    reason: str
    message: str
    details: Json | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False

    def body(self) -> Json:
        """The Status object."""
        status_body: Json = {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message,
            "reason": self.reason, "code": self.code,
        }  # fmt: skip
        return {**status_body, "details": self.details} if self.details else status_body


def _of(resource: Resource, name: str, *, kind: bool = False) -> Json:
    about = {"name": name, "group": resource.group, "kind": resource.kind if kind else resource.plural}
    return {key: value for key, value in about.items() if value}


def not_found(resource: Resource, name: str) -> Refusal:
    """404 for one object."""
    return Refusal(404, "NotFound", f'{resource.qualified} "{name}" not found', _of(resource, name))


def no_such_page() -> Refusal:
    """404 for an address that means nothing."""
    return Refusal(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: Resource, name: str) -> Refusal:
    """409 at a create."""
    return Refusal(409, "AlreadyExists", f'{resource.qualified} "{name}" already exists', _of(resource, name))


def conflict(resource: Resource, name: str, why: str = "") -> Refusal:
    """409 at an update with an old version, or with preconditions that do not hold."""
    why = why or (
        "the object has been modified; please apply your changes to the latest version and try again"
    )  # fmt: skip
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return Refusal(409, "Conflict", message, _of(resource, name))


def invalid(resource: Resource, name: str, causes: Sequence[StatusCause]) -> Refusal:
    """422 with everything that is wrong."""
    lines = [cause.line() for cause in causes]
    message = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {**_of(resource, name, kind=True), "causes": [cause.body() for cause in causes]}
    return Refusal(422, "Invalid", f'{kind} "{name}" is invalid: {message}', details)


def bad_request(message: str) -> Refusal:
    """400."""
    return Refusal(400, "BadRequest", message)


def forbidden(resource: Resource, name: str, why: str, *, sub: str = "") -> Refusal:
    """403, by rights or by admission."""
    qualified = resource.qualified if not sub else f"{resource.plural}/{sub}"
    subject = f'{qualified} "{name}"' if name else qualified
    return Refusal(403, "Forbidden", f"{subject} is forbidden: {why}", _of(resource, name))


def expired(message: str) -> Refusal:
    """410: the version that was asked for is compacted away."""
    return Refusal(410, "Expired", message)


def unauthorized() -> Refusal:
    """401."""
    return Refusal(401, "Unauthorized", "Unauthorized")


def too_many(retry_after: int = 1) -> Refusal:
    """429 of a server that has too much to do, with the time after which to try again, in seconds."""
    message, headers = "Too many requests, please try again later.", {"Retry-After": str(retry_after)}
    return Refusal(429, "TooManyRequests", message, headers=headers, plain=True)


def broken(message: str = "etcdserver: request timed out") -> Refusal:
    """500."""
    details: Json = {"causes": [{"message": message}]}
    return Refusal(500, "InternalError", f"Internal error occurred: {message}", details)


def too_new(asked: int, current: int) -> Refusal:
    """504: a version that is still to come."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return Refusal(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})
