"""The OpenAPI document: FastAPI's, extended by security schemes and the actual form of errors."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from backend.addresses import API
from backend.web import idempotency, json_lines
from backend.web.api_route import LOCATIONS
from backend.web.problem import PROBLEM_TYPE, Problem
from backend.web.security_middleware import AGENT_PATH, COOKIE, SIGNAL_PATHS, is_open

SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "`DESKARENA_TOKEN`, if the service has one."},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "A browser's, from `/login`."},
    "agent": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of one episode, from `POST /api/v1/episodes/{id}/agent-token`.",
    },
    "metrics": {"type": "http", "scheme": "bearer", "description": "`DESKARENA_METRICS_TOKEN`, if it is set."},
}
_TEXT = {"type": "string"}
_HEADERS = {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": {"description": "`Bearer`.", "schema": _TEXT}},
    HTTPStatus.METHOD_NOT_ALLOWED: {"Allow": {"description": "The methods of this address.", "schema": _TEXT}},
    HTTPStatus.TOO_MANY_REQUESTS: {"Retry-After": {"description": "Seconds.", "schema": _TEXT}},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": {"description": "Seconds.", "schema": _TEXT}},
}
_KEY = {
    "name": idempotency.HEADER,
    "in": "header",
    "required": False,
    "description": "A repetition with the same key is not done again and gets the first answer. Known for seven days, "
    "to the same person or token, in the same project; 422 for another request, 409 while the first is worked on.",
    "schema": {"type": "string", "minLength": 1, "maxLength": idempotency.LONGEST, "pattern": "^[ -~]+$"},
    "example": "build-17",
}
_REPLAY = {"description": "`true`: the answer of an earlier request with this key.", "schema": _TEXT}
_TAG = {"description": "Of this state; for `If-None-Match` of GET and `If-Match` of changes.", "schema": _TEXT}
_NO_BODY = {"description": "The client has the current state (`If-None-Match`)."}


class DocumentedApp(FastAPI):
    """An application with a complete OpenAPI document; `state.edge` is its context."""

    def openapi(self) -> dict[str, Any]:
        """The document, built when it is first needed."""
        if self.openapi_schema is None:
            _complete(super().openapi(), has_token=bool(self.state.edge.settings.token))
        return super().openapi()


def _complete(document: dict[str, Any], *, has_token: bool) -> None:
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
    document["components"]["schemas"] |= {**problem.pop("$defs"), "Problem": problem}
    document["components"]["securitySchemes"] = SCHEMES
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["security"] = _security(path, has_token=has_token)
            if path.startswith(API):
                operation["responses"] = _responses(operation)
                if path in LOCATIONS:
                    _add_header(operation, "Location", {"description": "Where the work is shown.", "schema": _TEXT})
                if method == "post" and idempotency.takes_key(path):
                    operation.setdefault("parameters", []).append(_KEY)
                    _add_header(operation, idempotency.REPLAY, _REPLAY)
                if method == "get":
                    _describe_reading(document, operation)


def _add_header(operation: dict[str, Any], name: str, header: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            response.setdefault("headers", {})[name] = header


def _describe_reading(document: dict[str, Any], operation: dict[str, Any]) -> None:
    """Adds the tag, 304, and the lines of a list."""
    content = operation["responses"].get("200", {}).get("content", {})
    if "application/json" not in content:
        return
    operation["responses"]["200"].setdefault("headers", {})["ETag"] = _TAG
    operation["responses"]["304"] = _NO_BODY
    name = content["application/json"]["schema"].get("$ref", "").rpartition("/")[2]
    properties = document["components"]["schemas"].get(name, {}).get("properties", {})
    if properties.keys() == {"items", "next"}:
        content[json_lines.MEDIA_TYPE] = {"schema": {"type": "string", "description": "One item in each line."}}


def _security(path: str, *, has_token: bool) -> list[dict[str, list[str]]]:
    if path == AGENT_PATH or path.startswith(f"{AGENT_PATH}/"):
        return [{"agent": []}]
    if is_open(path) or not has_token:
        return []
    others: list[dict[str, list[str]]] = [{"metrics": []}] if path in SIGNAL_PATHS else []
    return [{"token": []}, {"session": []}, *others]


def _responses(operation: dict[str, Any]) -> dict[str, Any]:
    """Responses of an operation, without impossible errors, each error as a problem with its headers."""
    body = operation.get("requestBody", {}).get("content", {})
    impossible = set()
    if not body:
        impossible |= {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE}
    if not body and not operation.get("parameters"):
        impossible.add(HTTPStatus.UNPROCESSABLE_ENTITY)
    if "multipart/form-data" not in body:
        impossible.add(HTTPStatus.INSUFFICIENT_STORAGE)
    responses = {HTTPStatus(int(status)): response for status, response in operation["responses"].items()}
    return {
        str(int(status)): _response(status, responses[status])
        for status in sorted(responses)
        if status not in impossible
    }


def _response(status: HTTPStatus, response: dict[str, Any]) -> dict[str, Any]:
    if PROBLEM_TYPE not in response.get("content", {}):
        return response
    content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    headers = {"headers": _HEADERS[status]} if status in _HEADERS else {}
    return {"description": response["description"], **headers, "content": content}
