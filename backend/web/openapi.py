"""The OpenAPI document: FastAPI's, extended by security schemes and the actual form of errors."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from backend.addresses import API
from backend.web.api_common import PROBLEM_TYPE, Problem
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
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": {"description": "Seconds.", "schema": _TEXT}},
}


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
        for operation in operations.values():
            operation["security"] = _security(path, has_token=has_token)
            if path.startswith(API):
                operation["responses"] = _responses(operation)


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
        impossible |= {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
    if not body and not operation.get("parameters"):
        impossible.add(HTTPStatus.UNPROCESSABLE_ENTITY)
    if "multipart/form-data" not in body:
        impossible.add(HTTPStatus.INSUFFICIENT_STORAGE)
    known = {HTTPStatus(int(status)): response for status, response in operation["responses"].items()}
    return {str(int(status)): _response(status, known[status]) for status in sorted(known) if status not in impossible}


def _response(status: HTTPStatus, response: dict[str, Any]) -> dict[str, Any]:
    if PROBLEM_TYPE not in response.get("content", {}):
        return response
    content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    headers = {"headers": _HEADERS[status]} if status in _HEADERS else {}
    return {"description": response["description"], **headers, "content": content}
