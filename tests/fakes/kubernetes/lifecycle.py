"""The end of objects: grace, finalizers, preconditions, and what dies with its owner."""

from datetime import UTC, datetime, timedelta

from tests.fakes.kubernetes import status
from tests.fakes.kubernetes.kinds import NAMESPACES, PODS, Json, Resource, clone
from tests.fakes.kubernetes.store import Key, ObjectStore, key_of

GRACE = 30
_CONDITIONS = (("uid", "UID", "deleted and then recreated"), ("resourceVersion", "ResourceVersion", "modified"))
ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


def is_done(resource: Resource, obj: Json) -> bool:
    """Whether an object that is being deleted has nothing left to wait for."""
    about = obj["metadata"]
    waits = about.get("finalizers") or (resource is PODS and about.get("deletionGracePeriodSeconds"))
    return bool(about.get("deletionTimestamp")) and not waits and resource is not NAMESPACES


def _grace(resource: Resource, obj: Json, asked: int | None) -> int:
    """Grace period in seconds; 0 for pods without a node."""
    if resource is not PODS or not obj["spec"].get("nodeName"):
        return 0
    if obj.get("status", {}).get("phase") in {"Succeeded", "Failed"}:
        return 0
    seconds = obj["spec"].get("terminationGracePeriodSeconds", GRACE) if asked is None else asked
    return max(0, int(seconds))


def _check(resource: Resource, obj: Json, conditions: Json) -> None:
    about = obj["metadata"]
    for field, words, end in _CONDITIONS:
        asked = conditions.get(field)
        if asked is not None and asked != about[field]:
            why = f"the {words} in the precondition ({asked}) does not match the {words} in record ({about[field]}). "
            raise status.conflict(resource, about["name"], f"{why}The object might have been {end}")


def _finalizers(obj: Json, options: Json) -> list[str]:
    named = list(obj["metadata"].get("finalizers") or [])
    policy = options.get("propagationPolicy")
    extra = {"Orphan": ORPHAN, "Foreground": FOREGROUND}.get(policy or "")
    return [*named, extra] if extra and extra not in named else named


def delete(store: ObjectStore, resource: Resource, key: Key, options: Json | None = None) -> tuple[Json, bool]:
    """Deletes an object, or has it wait for its node or its finalizers.

    Returns:
        The object, and whether it is gone now.

    Raises:
        Refusal: 404, or 409 when a precondition (uid, resourceVersion) does not hold.
    """
    options = options or {}
    with store.lock:
        obj = store.get(resource, key)
        if obj is None:
            raise status.not_found(resource, key[1])
        _check(resource, obj, options.get("preconditions") or {})
        dying = _dying(resource, obj, options)
        if options.get("dryRun"):
            return dying, False
        if is_done(resource, dying):
            if dying["metadata"] != obj["metadata"] and resource is PODS:
                store.put(resource, dying)
            return store.remove(resource, key), True
        return (obj if dying == obj else store.put(resource, dying)), False


def _dying(resource: Resource, obj: Json, options: Json) -> Json:
    """The object as one that is to end: a later, shorter grace counts, a longer one does not."""
    dying: Json = clone(obj)
    about = dying["metadata"]
    grace = _grace(resource, obj, options.get("gracePeriodSeconds"))
    if about.get("deletionTimestamp") and grace >= about.get("deletionGracePeriodSeconds", 0):
        return dying
    if finalizers := _finalizers(obj, options):
        about["finalizers"] = finalizers
    ends = datetime.now(UTC) + timedelta(seconds=grace)
    about["deletionTimestamp"] = ends.strftime("%Y-%m-%dT%H:%M:%SZ")
    about["deletionGracePeriodSeconds"] = grace
    if resource is NAMESPACES:
        dying["status"] = {**dying.get("status", {}), "phase": "Terminating"}
    return dying


def owners(obj: Json) -> list[Json]:
    """Whom an object belongs to."""
    return list(obj["metadata"].get("ownerReferences") or [])


def without_owner(obj: Json, uid: str) -> Json:
    """The object without one of its owners."""
    left = [owner for owner in owners(obj) if owner["uid"] != uid]
    about = {name: value for name, value in obj["metadata"].items() if name != "ownerReferences"}
    return {**obj, "metadata": {**about, "ownerReferences": left} if left else about}


def same(item: Json, other: Json) -> bool:
    """Whether two forms are of the same object, not only of the same name."""
    return key_of(item) == key_of(other) and item["metadata"]["uid"] == other["metadata"]["uid"]
