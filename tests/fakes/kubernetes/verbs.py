"""The API's verbs on objects, HTTP aside: create, list, update, patch. Controllers call them, too."""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from uuid import uuid4

from tests.fakes.kubernetes import lifecycle, status
from tests.fakes.kubernetes.admission import Admission
from tests.fakes.kubernetes.defaults import completed
from tests.fakes.kubernetes.kinds import NAMESPACES, Json, Resource, clone
from tests.fakes.kubernetes.selectors import Test
from tests.fakes.kubernetes.store import Key, ObjectStore, Version, key_of
from tests.fakes.kubernetes.validation import check_new, check_update

# What only the server writes: a client's words about it are not heard.
OWN = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink")


@dataclass(frozen=True)
class ListPage:
    """A part of a list.

    Attributes:
        token: what to ask the rest with; empty at the end.
    """

    items: list[Version]
    revision: int
    token: str = ""
    left: int = 0


class Verbs:
    """The API's verbs over a store."""

    def __init__(self, store: ObjectStore, admission: Admission) -> None:
        self.store = store
        self.admission = admission

    def get(self, resource: Resource, key: Key) -> Version:
        """One object. Raises 404."""
        obj = self.store.shelf(resource).objects.get(key)
        if obj is None:
            raise status.not_found(resource, key[1])
        return obj

    def create(self, resource: Resource, obj: Json, namespace: str = "", *, dry: bool = False) -> Json:
        """A new object. Raises 404, 409, 422 or 403 with the server's words."""
        obj = clone(obj)
        about = obj.setdefault("metadata", {})
        _named(about)
        if resource.namespaced:
            about["namespace"] = namespace
        for name in (*OWN, "resourceVersion"):
            about.pop(name, None)
        if resource.status and resource.plural not in {"nodes", "persistentvolumes"}:
            obj.pop("status", None)
        with self.store.lock:
            self._check_namespace(resource, namespace)
            if self.store.get(resource, key_of(obj)) is not None:
                raise status.already_exists(resource, about["name"])
            obj = self.admission.admit(resource, completed(resource, obj))
            check_new(resource, obj)
            return _as_if_new(obj) if dry else self.store.put(resource, obj)

    def _check_namespace(self, resource: Resource, namespace: str) -> None:
        if not resource.namespaced:
            return
        space = self.store.get(NAMESPACES, ("", namespace))
        if space is None:
            raise status.not_found(NAMESPACES, namespace)
        if space["metadata"].get("deletionTimestamp"):
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise status.forbidden(resource, "", why)

    def update(self, resource: Resource, key: Key, obj: Json, sub: str = "", *, dry: bool = False) -> Json:
        """Replaces an object (or its status) in full. Raises 404, 409 (stale), 422."""
        with self.store.lock:
            if key not in self.store.shelf(resource).objects and resource.upsert and not sub:
                _check_uid(resource, key[1], "", obj.get("metadata") or {})
                return self.create(resource, obj, key[0], dry=dry)
            old = self.get(resource, key).data
            about = obj.get("metadata") or {}
            _check_uid(resource, key[1], old["metadata"]["uid"], about)
            _check_version(resource, old, about, blind=resource.blind)
            return self._write(resource, old, obj, sub, dry=dry)

    def replace_patched(self, resource: Resource, key: Key, obj: Json, sub: str = "", *, dry: bool = False) -> Json:
        """Stores a patched object. A resourceVersion in it is a condition. Raises 404, 409, 422.

        Hold the store's lock from reading the object to here: patches wait for each other, they don't collide.
        """
        with self.store.lock:
            old = self.get(resource, key).data
            about = obj.get("metadata") or {}
            _check_version(resource, old, about, blind=True)
            if about.get("uid") not in {None, "", old["metadata"]["uid"]}:
                raise status.invalid(resource, key[1], [_other_uid(about["uid"])])
            return self._write(resource, old, obj, sub, dry=dry)

    def change(self, resource: Resource, key: Key, change: Callable[[Json], object], uid: str = "") -> Json | None:
        """Has a controller change a copy of an object and stores it; None when it is gone (or has another uid)."""
        with self.store.lock:
            old = self.store.get(resource, key)
            if old is None or (uid and old["metadata"]["uid"] != uid):
                return None
            obj = clone(old)
            change(obj)
            return self._store(resource, old, obj)

    def _write(self, resource: Resource, old: Json, obj: Json, sub: str, *, dry: bool) -> Json:
        obj = _kept(resource, old, obj, sub)
        if not sub:
            obj = completed(resource, obj)
            check_update(resource, old, obj)
        return obj if dry else self._store(resource, old, obj)

    def _store(self, resource: Resource, old: Json, obj: Json) -> Json:
        if obj == old:
            return old
        if obj.get("spec") != old.get("spec") and resource.status:
            obj["metadata"]["generation"] = old["metadata"].get("generation", 1) + 1
        if lifecycle.is_done(resource, obj):
            self.store.put(resource, obj)
            return self.store.remove(resource, key_of(obj))
        return self.store.put(resource, obj)

    def page(self, resource: Resource, namespace: str, test: Test | None, limit: int = 0, token: str = "") -> ListPage:
        """A list, in the order of names, in parts of `limit`. Raises 410 for a token older than the compaction."""
        with self.store.lock:
            shelf, revision, after = self.store.shelf(resource), self.store.revision, None
            if token:
                revision, after = _read_token(token)
                if revision < shelf.compacted:
                    raise _old_token()
            keys = sorted(
                key
                for key in shelf.objects
                if (not namespace or key[0] == namespace) and (after is None or key > after)
            )
            versions = (shelf.objects[key] for key in keys)
            fitting = [item for item in versions if test is None or test(item.data)]
        if not limit or len(fitting) <= limit:
            return ListPage(fitting, revision)
        part = list(islice(fitting, limit))
        return ListPage(part, revision, _token(revision, key_of(part[-1].data)), len(fitting) - limit)


def _named(about: Json) -> None:
    """Names what is to be named by its beginning."""
    if not about.get("name") and about.get("generateName"):
        about["name"] = about["generateName"] + uuid4().hex[:5]


def _as_if_new(obj: Json) -> Json:
    return {**obj, "metadata": {**obj["metadata"], "uid": str(uuid4())}}


def _check_version(resource: Resource, old: Json, about: Json, *, blind: bool) -> None:
    name = old["metadata"]["name"]
    asked = about.get("resourceVersion")
    if not asked and not blind:
        cause = status.StatusCause(
            "FieldValueInvalid", "Invalid value: 0: must be specified for an update", "metadata.resourceVersion"
        )
        raise status.invalid(resource, name, [cause])
    if asked and asked != old["metadata"]["resourceVersion"]:
        raise status.conflict(resource, name)


def _check_uid(resource: Resource, name: str, there: str, about: Json) -> None:
    """A PUT means the object of its uid, and makes none. (A patch that names another one is not valid: a 422.)"""
    asked = about.get("uid")
    if asked and asked != there:
        why = f"Precondition failed: UID in precondition: {asked}, UID in object meta: {there}"
        raise status.conflict(resource, name, why)


def _other_uid(asked: str) -> status.StatusCause:
    return status.StatusCause("FieldValueInvalid", f'Invalid value: "{asked}": field is immutable', "metadata.uid")


def _kept(resource: Resource, old: Json, obj: Json, sub: str) -> Json:
    """The new form with everything that this request has no say in, as it was."""
    obj = clone(obj)
    about = obj.setdefault("metadata", {})
    for name in (*OWN, "resourceVersion", "name", "namespace"):
        about.pop(name, None)
        if name in old["metadata"]:
            about[name] = old["metadata"][name]
    obj["apiVersion"], obj["kind"] = resource.api_version, resource.kind
    if sub == "status":
        return {**clone(old), "metadata": about, "status": obj.get("status") or {}}
    if resource.status and "status" in old:
        obj["status"] = clone(old["status"])
    elif resource.status:
        obj.pop("status", None)
    return obj


def _token(revision: int, key: Key) -> str:
    return b64encode("\n".join((str(revision), *key)).encode()).decode()


def _read_token(token: str) -> tuple[int, Key]:
    try:
        revision, namespace, name = b64decode(token).decode().split("\n")
        return int(revision), (namespace, name)
    except (ValueError, NotBase64) as wrong:
        raise status.bad_request(f"continue key is not valid: {wrong}") from wrong


def _old_token() -> status.Refusal:
    return status.expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new "
        "list without "
        "the continue parameter."
    )
