"""Collects what belongs to nobody any more: objects whose owner is gone, what is in a namespace that ends."""

from tests.fakes.kubernetes import lifecycle
from tests.fakes.kubernetes.kinds import BY_KIND, NAMESPACES, Json, Resource
from tests.fakes.kubernetes.loop import WorkLoop
from tests.fakes.kubernetes.state import State
from tests.fakes.kubernetes.status import Refusal
from tests.fakes.kubernetes.store import Change, Key, key_of

Place = tuple[Resource, Key]


class Garbage:
    """Runs on the cluster's loop; knows who belongs to whom by uid."""

    def __init__(self, state: State, loop: WorkLoop) -> None:
        self._state = state
        self._loop = loop
        self._owned: dict[str, set[Place]] = {}
        self._alive: set[str] = set()

    def heard(self, resource: Resource, change: Change) -> None:
        """Notes a change; works on it later."""
        obj, uid = change.version.data, change.version.data["metadata"]["uid"]
        place = (resource, key_of(obj))
        if change.kind == "DELETED":
            self._alive.discard(uid)
            if uid in self._owned:
                self._loop.soon(lambda: self._orphaned(uid))
            for owner in lifecycle.owners(obj):
                self._owned.get(owner["uid"], set()).discard(place)
            self._ended(resource, obj)
            return
        self._alive.add(uid)
        for owner in lifecycle.owners(obj):
            self._owned.setdefault(owner["uid"], set()).add(place)
            if change.kind == "ADDED":
                self._loop.soon(lambda: self._check(place))
        if obj["metadata"].get("deletionTimestamp"):
            self._dying(resource, obj)

    def _dying(self, resource: Resource, obj: Json) -> None:
        finalizers = obj["metadata"].get("finalizers") or []
        if lifecycle.ORPHAN in finalizers or lifecycle.FOREGROUND in finalizers:
            self._loop.soon(lambda: self._settle(resource, obj))
        if resource is NAMESPACES:
            self._loop.soon(lambda: self._empty(obj["metadata"]["name"]))

    def _ended(self, resource: Resource, obj: Json) -> None:
        namespace = obj["metadata"].get("namespace", "")
        space = self._state.store.get(NAMESPACES, ("", namespace)) if namespace else None
        if space is not None and space["metadata"].get("deletionTimestamp"):
            self._loop.soon(lambda: self._empty(namespace))

    def _check(self, place: Place) -> None:
        """An object whose owner is not there, or is another one by now, goes at once."""
        resource, key = place
        obj = self._state.store.get(resource, key)
        owners = lifecycle.owners(obj) if obj else []
        if owners and not any(self._there(owner, key[0]) for owner in owners):
            self._delete(resource, key)

    def _there(self, owner: Json, namespace: str) -> bool:
        kind = BY_KIND.get((owner["apiVersion"], owner["kind"]))
        if kind is None:
            return True  # a kind that is not served cannot be looked up
        obj = self._state.store.get(kind, (namespace if kind.namespaced else "", owner["name"]))
        return obj is not None and obj["metadata"]["uid"] == owner["uid"]

    def _orphaned(self, uid: str) -> None:
        for resource, key in list(self._owned.pop(uid, ())):
            obj = self._state.store.get(resource, key)
            left = [owner for owner in lifecycle.owners(obj) if owner["uid"] != uid] if obj else []
            if obj is not None and not left:
                self._delete(resource, key)

    def _settle(self, resource: Resource, obj: Json) -> None:
        """Orphan: the dependants are let go. Foreground: they go first."""
        uid, finalizers = obj["metadata"]["uid"], obj["metadata"].get("finalizers") or []
        places = list(self._owned.get(uid, ()))
        for kind, key in places:
            if lifecycle.ORPHAN in finalizers:
                self._state.verbs.change(kind, key, lambda item: item.update(lifecycle.without_owner(item, uid)))
            else:
                self._delete(kind, key)
        if lifecycle.ORPHAN in finalizers:
            self._owned.pop(uid, None)
        elif any(self._state.store.get(kind, key) is not None for kind, key in places):
            self._loop.later(0.02, lambda: self._settle(resource, obj))
            return
        ours = {lifecycle.ORPHAN, lifecycle.FOREGROUND}

        def change(item: Json) -> None:
            item["metadata"]["finalizers"] = [
                name for name in item["metadata"].get("finalizers") or [] if name not in ours
            ]

        self._state.verbs.change(resource, key_of(obj), change, uid)

    def _empty(self, namespace: str) -> None:
        """Deletes what is in a namespace, and the namespace once nothing is."""
        left = 0
        for resource in list(self._state.store.resources()):
            for obj in self._state.store.all(resource, namespace) if resource.namespaced else ():
                self._delete(resource, key_of(obj))
                left += self._state.store.get(resource, key_of(obj)) is not None
        if not left and self._state.store.get(NAMESPACES, ("", namespace)) is not None:
            self._state.store.remove(NAMESPACES, ("", namespace))

    def _delete(self, resource: Resource, key: Key) -> None:
        try:
            lifecycle.delete(self._state.store, resource, key)
        except Refusal as refusal:
            if refusal.code != 404:
                raise
