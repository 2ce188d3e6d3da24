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

from backend.addresses import API
from backend.config import Settings, get_settings
from backend.db.session import SessionFactory
from backend.domain.errors import Invalid
from backend.domain.ports.storage import ArtifactStore
from backend.services import events
from backend.services.accounts.principal import Principal
from backend.services.agents import agent_channel_store
from backend.web import api_routes, errors, page_routes, socket_routes
from backend.web.accounts.authentication import announce_first_link, authorize, identify
from backend.web.allowed_hosts import KnownHosts, is_loopback
from backend.web.behind_proxy import SubPath, SubPathMiddleware, TrustedProxies, first_segments
from backend.web.conditional_requests import ConditionalRequests
from backend.web.dependencies import AppContext
from backend.web.graceful_shutdown import GracefulShutdownMiddleware
from backend.web.http_methods import HttpMethods
from backend.web.openapi import DocumentedApp
from backend.web.rate_limits import WITH_ACCOUNTS, RateLimits
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
    """Tells workers that an API is available; closes waiting streams at the end."""
    edge: AppContext = app.state.edge
    if edge.settings.accounts:
        await asyncio.to_thread(announce_first_link, edge)
    telling = asyncio.create_task(_tell())
    yield
    telling.cancel()
    with suppress(asyncio.CancelledError):
        await telling
    await events.close_listeners()


async def _tell() -> None:
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
    token = settings.token.get_secret_value() if settings.token else None
    counter = settings.metrics_token.get_secret_value() if settings.metrics_token else ""
    if not is_loopback(settings.host) and not token and not settings.accounts:
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
        app.include_router(router, dependencies=[Depends(authorize)])
    app.mount("/docs", Documentation(), name="docs")  # After the API reference, whose address has the same prefix.
    routes = [route for router in routers for route in router.routes]
    sub_path = SubPath(settings.root_path, first_segments(getattr(each, "path", "") for each in [*app.routes, *routes]))
    app.state.edge = AppContext(settings, factory, store, own_version(), sub_path)
    errors.install(app, routes, settings.embed_origins)
    app.add_middleware(ConditionalRequests)
    app.add_middleware(GZipMiddleware, compresslevel=COMPRESSION, exclude_content_types=COMPRESSED_TYPES)
    app.add_middleware(SharedPages, stored=lambda: app.state.edge.pages)
    app.add_middleware(HttpMethods)
    usual = WITH_ACCOUNTS if settings.accounts else 0
    app.add_middleware(RateLimits, per_minute=usual if settings.rate_limit is None else settings.rate_limit)
    app.add_middleware(
        SecurityMiddleware,
        hosts=KnownHosts(settings.host, settings.allowed_hosts),
        token=token,
        sign_in=_identifying(app) if settings.accounts else None,
        metrics_token=counter,
        embed_origins=settings.embed_origins,
    )
    app.add_middleware(GracefulShutdownMiddleware, drain=app.state.edge.drain)
    app.add_middleware(SubPathMiddleware, sub_path=sub_path)
    app.add_middleware(TrustedProxies, proxies=settings.trusted_proxies)
    return app


def _identifying(app: FastAPI) -> Callable[[Credentials], Awaitable[Principal | None]]:
    """Asks the database who makes a request."""

    async def ask(credentials: Credentials) -> Principal | None:
        edge: AppContext = app.state.edge
        return await edge.identified(lambda: identify(edge, credentials))

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
