"""Dependencies of endpoints: the session of their own transaction, project, actor, store.

The transaction is committed after the endpoint has returned and before the response is sent (`scope="function"`), so a
response confirms the commit.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Annotated, TypeVar, cast
from urllib.parse import unquote, urlsplit

from fastapi import Depends, Request
from fastapi.concurrency import contextmanager_in_threadpool
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.db.models import Actor, Project
from backend.db.project_scope import hide_marked
from backend.db.session import SessionFactory, after_commit, make_engine, read_only, session_factory, unit_of_work
from backend.domain.errors import DeskarenaError, Invalid, Unavailable
from backend.domain.ports.storage import ArtifactStore
from backend.domain.ports.web import Web
from backend.rotating_secrets import current
from backend.services.accounts import audit
from backend.services.accounts.id_tokens import Issuers
from backend.services.accounts.open_id import OpenIdClient, OpenIdRules
from backend.services.accounts.principal import bind
from backend.services.capacity.maintenance_mode import MaintenanceView, maintenance
from backend.services.capacity.model_endpoints import node_prices
from backend.services.monitoring import installation_metrics
from backend.services.monitoring.cached_read import CachedRead, of_installation
from backend.services.monitoring.installation_metrics import InstallationMetrics
from backend.services.monitoring.status import InstallationStatus, status_of
from backend.services.results.views.row_costs import NodePriceList
from backend.services.scheduling import autoscaling_signals
from backend.services.scheduling.autoscaling_signals import Signals
from backend.web.behind_proxy import SubPath
from backend.web.events.frame_feed import FrameFeeds
from backend.web.events.shared_reads import SharedReads
from backend.web.graceful_shutdown import ShutdownState
from backend.web.per_loop import PerLoop
from backend.web.shared_pages import PageStore

T = TypeVar("T")
MOST_SESSIONS = 12
"""Requests with a transaction at once. With those that identify somebody, fewer than the pool has connections (20):
others wait without one, in order."""
MOST_IDENTIFICATIONS = 2
"""Requests that ask at once who makes them; each has a connection for less than a millisecond."""
MOST_AGENT_CALLS = 4
"""Transactions of agents' requests at once; each takes a millisecond or two."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PERSON_COOKIE = "deskarena_person"
"""Cookie with the name that the viewer gave in this browser."""


class AppContext:
    """State shared by all requests. The engine is created on first use, not at import."""

    def __init__(
        self,
        settings: Settings,
        factory: SessionFactory | None,
        store: ArtifactStore | None,
        version: str = "",
        sub_path: SubPath | None = None,
    ) -> None:
        self.settings = settings
        self.version = version
        self.sub_path = sub_path or SubPath("", ())
        self.drain = ShutdownState()
        self.turns = PerLoop(lambda: asyncio.Semaphore(MOST_SESSIONS))
        self._factory = factory
        self._own_agent_factory = factory
        self._store = store
        self._lock = Lock()
        self.token = current(settings, "token")

    @property
    def factory(self) -> SessionFactory:
        """Session factory. Raises Unavailable if no database is configured."""
        with self._lock:
            if self._factory is None:
                self._factory = session_factory(self._engine())
            return self._factory

    def _engine(self, pool_size: int = 10) -> Engine:
        url = self.settings.database_url.get_secret_value()
        return make_engine(url, pool_size=pool_size, current_url=current(self.settings, "database_url"))

    @property
    def store(self) -> ArtifactStore:
        """The artifact store."""
        with self._lock:
            if self._store is None:
                from backend.services.artifacts.stores import open_store

                self._store = open_store(self.settings)
            return self._store

    @cached_property
    def signals(self) -> CachedRead[Signals]:
        """Cached signals for autoscalers. Raises Unavailable if no database is configured."""
        return self._cached_read(autoscaling_signals.gather)

    @cached_property
    def installation_metrics(self) -> CachedRead[InstallationMetrics]:
        """Cached metrics of the database. Raises Unavailable if no database is configured."""
        return self._cached_read(installation_metrics.gather)

    @cached_property
    def status(self) -> CachedRead[InstallationStatus]:
        """The status of the installation: anybody may ask, so that questions cost nothing."""
        return CachedRead(lambda: status_of(lambda: self.factory, lambda: self.store))

    @cached_property
    def _maintenance(self) -> CachedRead[MaintenanceView]:
        return self._cached_read(maintenance)

    def _cached_read(self, read: Callable[[Session], T]) -> CachedRead[T]:
        factory = self.factory
        return CachedRead(lambda: of_installation(factory, read))

    def maintenance_reason(self) -> str:
        """Why nothing starts, as of a few seconds ago; empty if it does, and without a database."""
        try:
            return self._maintenance.value().reason
        except Unavailable:
            return ""

    def forget_maintenance(self, session: Session) -> None:
        """After the commit this process reads it again, so that its author sees the change at once."""
        after_commit(session, "maintenance:read", self._maintenance.forget)

    @cached_property
    def reads(self) -> SharedReads:
        """Reads that many viewers share."""
        return SharedReads()

    @cached_property
    def pages(self) -> PageStore:
        """Pages that many readers share. Raises Unavailable if no database is configured."""
        return PageStore(self.factory)

    @cached_property
    def feeds(self) -> FrameFeeds:
        """Live frames of attempts that somebody watches."""
        return FrameFeeds()

    async def identified(self, work: Callable[[], T]) -> T:
        """Runs the question who makes a request in its own threads: few, so that they take few connections."""
        return await asyncio.get_running_loop().run_in_executor(self._identifying_threads, work)

    @cached_property
    def _identifying_threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(MOST_IDENTIFICATIONS, "identify")

    async def for_agent(self, work: Callable[[SessionFactory], T]) -> T:
        """Runs an agent's work in its own thread, with connections of its own: neither readers nor viewers delay it."""
        return await asyncio.get_running_loop().run_in_executor(self._agent_threads, work, self._agent_factory)

    @cached_property
    def _agent_threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(MOST_AGENT_CALLS, "agents")

    @property
    def _agent_factory(self) -> SessionFactory:
        with self._lock:
            if self._own_agent_factory is None:
                self._own_agent_factory = session_factory(self._engine(pool_size=MOST_AGENT_CALLS // 2))
            return self._own_agent_factory

    @cached_property
    def web(self) -> Web:
        """The SSRF-safe HTTP client."""
        return self._web_with()

    def _web_with(self, *private_hosts: str) -> Web:
        from backend.services.artifacts.egress_policy import EgressPolicy
        from backend.services.artifacts.ssrf_safe_http import GuardedWeb

        return GuardedWeb(EgressPolicy(private_hosts=(*self.settings.web_private_hosts, *private_hosts)))

    @cached_property
    def issuers(self) -> Issuers:
        """Metadata and keys of issuers that projects trust."""
        return Issuers(self.web, plain=self.settings.web_private_hosts)

    @cached_property
    def open_id(self) -> OpenIdClient | None:
        """This installation as a client of the operator's OpenID provider, which may be in a private network."""
        settings = self.settings
        if not settings.accounts or not settings.oidc_issuer:
            return None
        web = self._web_with(urlsplit(settings.oidc_issuer).hostname or "")
        rules = OpenIdRules(
            issuer=settings.oidc_issuer,
            client_id=settings.oidc_client_id,
            client_secret=current(settings, "oidc_client_secret"),
            scopes=settings.oidc_scopes,
            first_sign_in=settings.oidc_first_sign_in,
            groups_claim=settings.oidc_groups_claim,
            roles=settings.oidc_roles,
            admins=settings.oidc_admins,
        )
        return OpenIdClient(rules, Issuers(web, plain=(*LOOPBACK, *settings.web_private_hosts)), web)


def edge_of(request: Request) -> AppContext:
    return cast("AppContext", request.app.state.edge)


async def find_edge(request: Request) -> AppContext:
    """`edge_of` as a dependency. One that waits for nothing is `async`: others each wait for a thread."""
    return edge_of(request)


EdgeDep = Annotated[AppContext, Depends(find_edge)]


READS = frozenset({"GET", "HEAD"})


async def open_session(request: Request, edge: EdgeDep) -> AsyncGenerator[Session]:
    """One transaction per request; read-only for requests that only read. Others enter the audit log.

    A request waits for its turn before it takes a connection. Else many would hold one while they wait for a thread,
    and the threads wait for connections.
    """
    transaction = only_read(edge, request) if request.method in READS else audited(edge, request)
    async with edge.turns.get(), contextmanager_in_threadpool(transaction) as session:
        yield session


@contextmanager
def only_read(edge: AppContext, request: Request) -> Iterator[Session]:
    """One transaction of a request that only reads."""
    with read_only(edge.factory) as session:
        bind(session, request.state.principal)
        hide_marked(session)
        yield session


@contextmanager
def audited(edge: AppContext, request: Request) -> Iterator[Session]:
    """One transaction of a request that changes something, with its entry in the audit log.

    Meanwhile it is `request.state.transaction`, in which `backend.web.idempotency` stores the answer.
    """
    try:
        with unit_of_work(edge.factory) as session:
            bind(session, request.state.principal)
            hide_marked(session)
            audit.watch(session)
            request.state.transaction = session
            yield session
            audit.record_request(session, f"{request.method} {request.scope['route'].path}", request.url.path)
    finally:
        request.state.transaction = None


SessionDep = Annotated[Session, Depends(open_session, scope="function")]


def find_project(session: SessionDep) -> Project:
    from backend.services.accounts.projects import default_project

    return default_project(session)


ProjectDep = Annotated[Project, Depends(find_project, scope="function")]


def find_actor(session: SessionDep) -> Actor:
    from backend.services.accounts.projects import acting

    return acting(session, find_project(session))


ActorDep = Annotated[Actor, Depends(find_actor, scope="function")]


def find_person(request: Request, session: SessionDep) -> Actor:
    from backend.services.accounts.projects import actor_for, person_or_local

    project = find_project(session)
    try:
        return person_or_local(session, project, unquote(request.cookies.get(PERSON_COOKIE, "")), path="name")
    except DeskarenaError:  # Somebody wrote the cookie by hand.
        return actor_for(session, project)


def node_price_list(edge: EdgeDep) -> NodePriceList:
    """The operator's prices of nodes, read for each request, so that a changed file applies to the next one."""
    try:
        return NodePriceList(node_prices(edge.settings.models_path))
    except Invalid as error:
        return NodePriceList(error=f"invalid price file: {error.message}"[:200])


NodePricesDep = Annotated[NodePriceList, Depends(node_price_list)]
PersonDep = Annotated[Actor, Depends(find_person, scope="function")]
"""The viewer: who is signed in; without accounts, by the name that is stored in this browser, or `local`."""
