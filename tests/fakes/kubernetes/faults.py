"""Faults on demand between a client and the API: slowness, errors, cut connections, an unreachable server."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tests.fakes.kubernetes.requests import Request
from tests.fakes.kubernetes.status import Refusal, broken, too_many


@dataclass
class ApiFault:
    """One rule.

    Attributes:
        verbs: as rights name them (`create`, `watch`); empty: all.
        path: pattern that the path has to contain.
        times: how often it still works; below 0: always.
        seconds: delay before the request is looked at.
        refusal: what is answered.
        cut: `before` drops the request unseen; `after` does what it asks and drops the answer.
    """

    verbs: tuple[str, ...] = ()
    path: str = ""
    times: int = 1
    seconds: float = 0.0
    refusal: Callable[[], Refusal] | None = None
    cut: str = ""

    def meets(self, request: Request) -> bool:
        """Whether it is about that request."""
        fitting = not self.verbs or request.verb in self.verbs
        return fitting and self.times != 0 and re.search(self.path, request.path) is not None


class ApiFaults:
    """The rules in force; the first that meets a request works on it. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[ApiFault] = []
        self.away = False

    def add(self, fault: ApiFault) -> ApiFault:
        """Puts a rule in force."""
        with self._lock:
            self._rules.append(fault)
        return fault

    def slow(self, seconds: float, *verbs: str, path: str = "", times: int = -1) -> ApiFault:
        """Requests take longer."""
        return self.add(ApiFault(verbs, path, times, seconds=seconds))

    def throttle(self, *verbs: str, path: str = "", times: int = 1, retry_after: int = 1) -> ApiFault:
        """429 with Retry-After, in seconds."""
        return self.add(ApiFault(verbs, path, times, refusal=lambda: too_many(retry_after)))

    def fail(self, *verbs: str, path: str = "", times: int = 1) -> ApiFault:
        """500."""
        return self.add(ApiFault(verbs, path, times, refusal=broken))

    def cut(self, *verbs: str, path: str = "", times: int = 1, after: bool = False) -> ApiFault:
        """Resets the connection before the request is read, or after it was carried out and before its answer."""
        return self.add(ApiFault(verbs, path, times, cut="after" if after else "before"))

    def clear(self) -> None:
        """Everything works again."""
        with self._lock:
            self._rules.clear()
            self.away = False

    def take(self, request: Request) -> ApiFault | None:
        """The rule for a request; counts."""
        with self._lock:
            if self.away:
                return ApiFault(cut="before")
            rule = next((rule for rule in self._rules if rule.meets(request)), None)
            if rule is not None and rule.times > 0:
                rule.times -= 1
            return rule
