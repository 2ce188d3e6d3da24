"""Routes of the API: strict JSON, `Idempotency-Key`, and lists as JSON lines."""

from collections.abc import Callable, Coroutine, Mapping
from functools import cached_property
from typing import Any, ClassVar

from fastapi import Request, Response, params
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from backend.addresses import API
from backend.domain.errors import DeskarenaError
from backend.web import idempotency, json_lines
from backend.web.accounts.authentication import authorize
from backend.web.deprecations import deprecation_of, with_dates
from backend.web.strict_json import StrictRequest, check_types

_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
LOCATIONS: Mapping[str, str] = {
    f"{API}{accepted}": f"{API}{watched}"
    for accepted, watched in (
        ("/benchmarks/{name}/validate", "/benchmarks/{name}/validation"),
        ("/deliveries/{delivery_id}/redeliver", "/deliveries/{delivery_id}"),
        ("/draft-requests", "/draft-requests"),
        ("/drafts/{draft_id}/trials", "/drafts/{draft_id}"),
        ("/episodes/{episode_id}/rescore", "/episodes/{episode_id}/rescores"),
        ("/runs/{run_id}/rescore", "/runs/{run_id}/rescores"),
    )
}
"""Where the work that a route has accepted (202) is shown."""


class WrongMediaType(DeskarenaError):
    """The body's type is not one that the address takes (415)."""

    status = 415
    code = "media_type_not_supported"


class ApiRoute(APIRoute):
    """A route of the API; see the module."""

    lists: ClassVar[frozenset[str]] = frozenset({"items", "next"})

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler with ours around it."""
        handler, deprecation = self._handler(), deprecation_of(self)
        return handler if deprecation is None else with_dates(deprecation, handler)

    def _handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        methods = self.methods or set()
        if "GET" in methods:
            return json_lines.or_lines(answer) if self.is_list else answer

        async def handle(plain: Request) -> Response:
            authorize(plain)  # Before the body is read, and before anything is answered from what is stored.
            request = StrictRequest(plain.scope, plain.receive)
            await self._check_body(request)
            key = idempotency.key_of(request, self.path) if "POST" in methods else None
            if key is None:
                return await located(request)
            return await idempotency.answer_once(request, key, located)

        async def located(request: Request) -> Response:
            response = await answer(request)
            if location := LOCATIONS.get(self.path):
                response.headers["Location"] = location.format(**request.path_params)
            return response

        return handle

    @property
    def is_list(self) -> bool:
        """Whether it answers with a page of a list."""
        return set(getattr(self.response_model, "model_fields", ())) == self.lists

    @cached_property
    def _json_type(self) -> TypeAdapter[Any] | None:
        """Type of a JSON body; None if it takes a form or nothing."""
        body = None if self._takes_form else self.body_field
        annotation: Any = body.field_info.annotation if body else None
        return None if annotation is None else TypeAdapter(annotation)

    @property
    def _takes_form(self) -> bool:
        return self.body_field is not None and isinstance(self.body_field.field_info, params.Form)

    async def _check_body(self, request: StrictRequest) -> None:
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self._takes_form:
            if media_type and media_type not in _FORMS:
                raise _wrong_type(media_type, "a form (multipart/form-data)")
        elif self._json_type is not None and (body := await request.body()):
            if media_type != "application/json" and not media_type.endswith("+json"):
                raise _wrong_type(media_type, "JSON (application/json)")
            await request.json()
            check_types(self._json_type, body)


def _wrong_type(media_type: str, expected: str) -> WrongMediaType:
    named = media_type[:100] or "without a type"
    return WrongMediaType(f"the body is {named}: expected {expected}", hint="Set the header Content-Type.")
