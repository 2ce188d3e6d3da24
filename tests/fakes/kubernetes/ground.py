"""Where kubelets and controllers find objects and write them: the fake's own store, or a real API server (remote)."""

from collections.abc import Callable
from typing import Protocol

from tests.fakes.kubernetes import lifecycle
from tests.fakes.kubernetes.kinds import PODS, Json, Resource
from tests.fakes.kubernetes.state import State
from tests.fakes.kubernetes.status import Refusal
from tests.fakes.kubernetes.store import Key

_NOT_IT = frozenset({404, 409})
"""It is gone, or another has its name."""


class Ground(Protocol):
    """A kubelet's needs of a cluster."""

    def find(self, resource: Resource, key: Key) -> Json | None:
        """An object as it is now."""
        ...

    def create(self, resource: Resource, obj: Json, namespace: str = "") -> Json:
        """A new object. Raises Refusal."""
        ...

    def change(self, resource: Resource, key: Key, change: Callable[[Json], object], uid: str = "") -> Json | None:
        """Changes a copy of an object and stores it; None when it is gone (or has another uid)."""
        ...

    def confirm(self, key: Key, uid: str) -> None:
        """The pod's node says that nothing of it runs any more."""
        ...


class Own:
    """The fake's store."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.create, self.change = state.verbs.create, state.verbs.change

    def find(self, resource: Resource, key: Key) -> Json | None:
        return self._state.store.get(resource, key)

    def confirm(self, key: Key, uid: str) -> None:
        try:
            lifecycle.delete(self._state.store, PODS, key, {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        except Refusal as refusal:
            if refusal.code not in _NOT_IT:
                raise
