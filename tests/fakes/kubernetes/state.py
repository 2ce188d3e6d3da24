"""State that the parts of the fake cluster share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.fakes.kubernetes.admission import Admission
from tests.fakes.kubernetes.faults import ApiFaults
from tests.fakes.kubernetes.kinds import Json
from tests.fakes.kubernetes.rbac import User
from tests.fakes.kubernetes.store import ObjectStore
from tests.fakes.kubernetes.verbs import Verbs

# What a container has said so far, by the pod's uid and the container's name; `previous` is of the start before.
Logs = Callable[[Json, str, bool], str]


@dataclass(frozen=True)
class AnsweredRequest:
    """One request that was answered."""

    method: str
    verb: str
    path: str
    query: dict[str, str]
    user: str
    code: int


@dataclass
class State:
    """The API server's own.

    Attributes:
        users: by token.
        asked: every request so far, without watches that still run.
        watches: those that run now.
        bookmarks: seconds between two bookmarks of a watch that asks for them.
        longest_watch: seconds after which a watch ends whose client sets no time.
    """

    store: ObjectStore
    admission: Admission
    verbs: Verbs
    faults: ApiFaults = field(default_factory=ApiFaults)
    users: dict[str, User] = field(default_factory=dict)
    asked: list[AnsweredRequest] = field(default_factory=list)
    logs: Logs = lambda _pod, _container, _previous: ""
    bookmarks: float = 5.0
    longest_watch: float = 1800.0
    ended: Callable[[], bool] = lambda: False


def new_state() -> State:
    """An empty cluster's."""
    store = ObjectStore()
    admission = Admission(store)
    return State(store, admission, Verbs(store, admission))


Lines = Iterator[bytes]
