"""Short-lived cache of principals: most of a page's requests come from one browser."""

import time
from collections.abc import Awaitable, Callable

from backend.services.accounts.principal import Principal
from backend.web.security_middleware import Credentials

SECONDS = 1.0
"""For so long at most a session or token that another process has ended may still read."""
MOST = 1000


class PrincipalCache:
    """Asks the database who makes a request, for reads at most once a second.

    What changes something is asked anew, and empties the cache of this process before it is answered.

    Args:
        ask: asks the database.
        clock: seconds that never go back.
    """

    def __init__(
        self, ask: Callable[[Credentials], Awaitable[Principal | None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._known: dict[Credentials, tuple[float, Principal]] = {}
        self._changes = 0

    async def principal(self, credentials: Credentials, *, only_reads: bool) -> Principal | None:
        """The principal of a session or token; None if it is not in force. Raises Unavailable."""
        now = self._clock()
        since, cached = self._known.get(credentials, (-SECONDS, None))
        if only_reads and cached is not None and now - since < SECONDS:
            return cached
        changes = self._changes
        principal = await self._ask(credentials)
        if principal is None:
            self._known.pop(credentials, None)
        elif changes == self._changes:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[credentials] = (now, principal)
        return principal

    def forget(self) -> None:
        """Forgets everybody, and what is being asked just now."""
        self._changes += 1
        self._known.clear()
