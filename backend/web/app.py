"""The web application: `app` for uvicorn, `create_app` for tests."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.responses import FileResponse
from fastapi.routing import APIRoute
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware

from backend.addresses import API, is_loopback
from backend.config import Settings, get_settings
from backend.db.session import SessionFactory
from backend.domain.errors import Invalid
from backend.domain.ports.storage import ArtifactStore
from backend.rotating_secrets import current
from backend.services import events
from backend.services.accounts.principal import Principal
from backend.services.agents import agent_channel_store
from backend.web import api_routes, errors, page_routes, socket_routes
from backend.web.accounts.authentication import announce_first_link, authorized, identify, redeem
from backend.web.accounts.principal_cache import PrincipalCache
from backend.web.allowed_hosts import KnownHosts
from backend.web.behind_proxy import SubPath, SubPathMiddleware, TrustedProxies, first_segments
from backend.web.conditional_requests import ConditionalRequests
from backend.web.dependencies import AppContext
from backend.web.graceful_shutdown import GracefulShutdownMiddleware
from backend.web.http_methods import HttpMethods
from backend.web.http_metrics import HttpMetrics
from backend.web.openapi import DocumentedApp
from backend.web.rate_limits import WITH_ACCOUNTS, RateLimits
from backend.web.request_ids import RequestIds
from backend.web.request_traces import RequestTraces
from backend.web.route_index import RouteIndex
from backend.web.security_middleware import Credentials, SecurityMiddleware
from backend.web.shared_pages import SharedPages
from backend.web.static_files import STATIC, Documentation, VersionedFiles

ABOUT = """Measures computer-use agents on real desktops.

Lists come in parts: follow `next` until it is null, or ask for all of it with `Accept: application/x-ndjson`. Errors
are `application/problem+json` with a stable `code` and a `hint`. A POST that is repeated with the same
`Idempotency-Key` is done once. Every address with GET has HEAD, every address OPTIONS."""

COMPRESSION = 5
"""zlib's level: pages get a tenth smaller with 9, which takes twice as long."""
COMPRESSED_TYPES = (
    *DEFAULT_EXCLUDED_CONTENT_TYPES,
    "application/octet-stream",
    "application/vnd.apache.parquet",
    "application/x-tar",
)
"""Types that are compressed already, or contain what is."""


def own_version() -> str:
    """The version of this package."""
    try:
        return package_version("deskarena")
    except PackageNotFoundError:
        return "0"


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """Announces the API to workers while it runs; closes waiting streams at the end."""
    edge: AppContext = app.state.edge
    if edge.settings.accounts:
        await asyncio.to_thread(announce_first_link, edge)
    announcement = asyncio.create_task(_announce_api())
    yield
    announcement.cancel()
    with suppress(asyncio.CancelledError):
        await announcement
    await events.close_listeners()


async def _announce_api() -> None:
    while True:
        await agent_channel_store.mark_api()
        await asyncio.sleep(agent_channel_store.API_SECONDS / 4)


def create_app(
    settings: Settings | None = None, factory: SessionFactory | None = None, store: ArtifactStore | None = None
) -> FastAPI:
    """Builds the application. Connections are opened on first use.

    Args:
        settings: those of the environment if None.
        factory: session factory; from `settings.database_url` if None.
        store: artifact store; below `settings.data_dir` if None.

    Raises:
        Invalid: the listening address is not loopback and no token is set.
    """
    settings = settings or get_settings()
    if not is_loopback(settings.host) and not settings.token and not settings.accounts:
        raise Invalid(
            f"listening on {settings.host} needs accounts or a token",
            code="token_required_to_listen",
            path="DESKARENA_HOST",
            hint="Set DESKARENA_ACCOUNTS=true or DESKARENA_TOKEN, or listen on 127.0.0.1.",
        )
    app = DocumentedApp(
        title="Deskarena",
        version=own_version(),
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        lifespan=lifespan,
        generate_unique_id_function=operation_id,
        servers=[{"url": settings.root_path.rstrip("/")}] if settings.root_path.rstrip("/") else None,
    )
    app.mount("/static", VersionedFiles(), name="static")
    app.add_api_route("/favicon.ico", favicon, include_in_schema=False)
    routers = (*api_routes.ROUTERS, *page_routes.ROUTERS, *socket_routes.ROUTERS)
    for router in routers:
        app.include_router(router, dependencies=[Depends(authorized)])
    app.mount("/docs", Documentation(), name="docs")  # After the API reference, whose address has the same prefix.
    routes = [route for router in routers for route in router.routes]
    sub_path = SubPath(
        settings.root_path, first_segments(getattr(route, "path", "") for route in [*app.routes, *routes])
    )
    app.router.middleware_stack = RouteIndex(app.router)
    app.state.edge = AppContext(settings, factory, store, own_version(), sub_path)
    errors.install(app, routes, settings.embed_origins)
    _add_middleware(app, settings, sub_path)
    return app


def _add_middleware(app: FastAPI, settings: Settings, sub_path: SubPath) -> None:
    """From the innermost to the outermost: the one added last sees a request first."""
    app.add_middleware(ConditionalRequests)
    app.add_middleware(GZipMiddleware, compresslevel=COMPRESSION, exclude_content_types=COMPRESSED_TYPES)
    app.add_middleware(SharedPages, stored=lambda: app.state.edge.pages)
    app.add_middleware(HttpMethods)
    default_rate = WITH_ACCOUNTS if settings.accounts else 0
    app.add_middleware(RateLimits, per_minute=default_rate if settings.rate_limit is None else settings.rate_limit)
    app.add_middleware(
        SecurityMiddleware,
        hosts=KnownHosts(settings.host, settings.allowed_hosts),
        token=app.state.edge.token,
        sign_in=PrincipalCache(_identifying(app)) if settings.accounts else None,
        redeem=_redeeming(app),
        metrics_token=current(settings, "metrics_token"),
        embed_origins=settings.embed_origins,
    )
    app.add_middleware(GracefulShutdownMiddleware, is_draining=lambda: app.state.edge.drain.draining)
    app.add_middleware(SubPathMiddleware, sub_path=sub_path)
    app.add_middleware(TrustedProxies, proxies=settings.trusted_proxies)
    app.add_middleware(HttpMetrics)
    app.add_middleware(RequestTraces)
    app.add_middleware(RequestIds)


def _identifying(app: FastAPI) -> Callable[[Credentials], Awaitable[Principal | None]]:
    """Asks the database who makes a request."""

    async def ask(credentials: Credentials) -> Principal | None:
        edge: AppContext = app.state.edge
        return await edge.identified(lambda: identify(edge, credentials))

    return ask


def _redeeming(app: FastAPI) -> Callable[[str, str], Awaitable[Credentials | None]]:
    """Asks the database what the ticket of a stream stands for."""

    async def ask(ticket: str, path: str) -> Credentials | None:
        edge: AppContext = app.state.edge
        return await edge.identified(lambda: redeem(edge, ticket, path))

    return ask


def operation_id(route: APIRoute) -> str:
    """A short name for generated clients: `runs_submit_run`."""
    return "_".join([*(str(tag).replace(" ", "_") for tag in route.tags[:1]), route.name])


def favicon() -> FileResponse:
    """The default icon of browsers."""
    return FileResponse(STATIC / "img" / "logo.svg", media_type="image/svg+xml")


def __getattr__(name: str) -> Any:
    """`app` is created on first access, so that importing this module reads no environment."""
    if name == "app":
        globals()["app"] = create_app()
        return globals()["app"]
    raise AttributeError(name)
