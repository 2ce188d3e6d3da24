"""HTTP application: routes of every capability behind the secret, every error as JSON."""

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from guest_server.protocol.errors import GuestError, from_os_error
from guest_server.protocol.machine import Machine
from guest_server.routes import (
    accessibility,
    clipboard,
    download,
    egress,
    execute,
    files,
    folders,
    health,
    interactions,
    launch,
    mouse_and_keyboard,
    open_file,
    power,
    probe,
    recording,
    resume,
    run_code,
    screen,
    stream,
    tunnel,
    verification,
    wallpaper,
    window_control,
)

CAPABILITIES = (
    probe,
    health,
    execute,
    verification,
    run_code,
    launch,
    screen,
    accessibility,
    mouse_and_keyboard,
    interactions,
    clipboard,
    window_control,
    stream,
    tunnel,
    egress,
    files,
    folders,
    download,
    open_file,
    wallpaper,
    recording,
    power,
    resume,
)
"""Modules whose `routes(machine)` make up the API."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_log = logging.getLogger("guest_server")


def build_app(machine: Machine) -> web.Application:
    """The application for one desktop."""

    @web.middleware
    async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except GuestError as error:
            return web.json_response(error.body(), status=error.status)
        except OSError as error:
            guest_error = from_os_error(error)
            return web.json_response(guest_error.body(), status=guest_error.status)
        except web.HTTPException as error:
            guest_error = _from_http(error, machine.limits.json_body)
            return web.json_response(guest_error.body(), status=guest_error.status)
        except Exception as error:  # noqa: BLE001 - told to the caller and logged, never swallowed.
            _log.exception("%s %s failed", request.method, request.path)
            guest_error = GuestError("internal", f"the guest server failed: {type(error).__name__}: {error}")
            return web.json_response(guest_error.body(), status=guest_error.status)

    @web.middleware
    async def secret(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not machine.secret.allows(request.headers.get("Authorization")):
            raise GuestError("unauthorized", "the header 'Authorization: Bearer <secret>' is missing or wrong")
        return await handler(request)

    app = web.Application(middlewares=[errors, secret], client_max_size=machine.limits.json_body)
    for capability in (*CAPABILITIES, *machine.capabilities):
        app.add_routes(capability.routes(machine))
    return app


def _from_http(error: web.HTTPException, body_limit: int) -> GuestError:
    """Converts the HTTP library's own errors to our form."""
    kinds = {
        404: ("not_found", "there is no such route; docs/internals/guest-api.md lists them"),
        405: ("method_not_allowed", f"this route does not take {getattr(error, 'method', 'this method')}"),
        413: ("too_large", f"the request body is larger than {body_limit} bytes"),
    }
    kind, message = kinds.get(error.status, ("bad_request", error.reason))
    return GuestError(kind, message)
