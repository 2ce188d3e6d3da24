"""Who makes a request is asked once a second for reads, always for changes, and again after each change."""

import asyncio

from backend.db.models.enums import Role
from backend.services.accounts.principal import Principal
from backend.web.accounts.principal_cache import SECONDS, PrincipalCache
from backend.web.security_middleware import Credentials

ADA, EVE = (Credentials("", name, "", strict=False, service=False) for name in ("ada", "eve"))


class OpenSessions:
    """Sessions in force, by their token; `asked` are the questions."""

    def __init__(self) -> None:
        self.open = {"ada", "eve"}
        self.asked: list[str] = []
        self.now = 100.0
        self.cache = PrincipalCache(self.ask, lambda: self.now)

    async def ask(self, credentials: Credentials) -> Principal | None:
        self.asked.append(credentials.bearer)
        in_force = credentials.bearer in self.open
        await asyncio.sleep(0)
        return Principal(credentials.bearer, Role.VIEWER) if in_force else None

    def may(self, credentials: Credentials, *, only_reads: bool = True) -> bool:
        return asyncio.run(self.cache.principal(credentials, only_reads=only_reads)) is not None


def test_reads_ask_once_a_second_and_each_for_itself() -> None:
    sessions = OpenSessions()
    assert [sessions.may(each) for each in (ADA, EVE, ADA, ADA)] == [True] * 4
    assert sessions.asked == ["ada", "eve"]
    sessions.now += SECONDS
    assert sessions.may(ADA)
    assert sessions.asked == ["ada", "eve", "ada"]


def test_session_ended_elsewhere_reads_for_a_second_and_never_writes() -> None:
    sessions = OpenSessions()
    assert sessions.may(ADA)
    sessions.open.clear()
    assert (sessions.may(ADA), sessions.may(ADA, only_reads=False)) == (True, False)
    sessions.now += SECONDS
    assert not sessions.may(ADA)
    sessions.open.add("ada")
    assert sessions.may(ADA)  # Nobody is remembered as unknown.


def test_change_clears_the_cache_including_pending_lookups() -> None:
    sessions = OpenSessions()

    async def change_while_somebody_asks() -> None:
        asking = asyncio.ensure_future(sessions.cache.principal(ADA, only_reads=True))
        await asyncio.sleep(0)
        sessions.open.clear()
        sessions.cache.forget()
        await asking

    asyncio.run(change_while_somebody_asks())
    assert not sessions.may(ADA)
