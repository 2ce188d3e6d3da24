"""Rules for an object: names, labels, what a pod must have and may not change. 422 with every cause."""

import re
from collections.abc import Iterator

from tests.fakes.kubernetes.kinds import LEASES, PODS, SECRETS, Json, Resource
from tests.fakes.kubernetes.status import StatusCause, invalid

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = rf"({_NAME})?"
_BAD_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end "
    f"with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_BAD_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "
    "end with an "
    f"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with "
    f"an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'({_NAME})?')"
)
_BAD_KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
# Bytes that all annotations of an object, and all of a secret's values, may have.
MOST_ANNOTATIONS, MOST_SECRET = 256 * 1024, 1024 * 1024
_CHANGEABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_LABEL_NAMES = {"services", "namespaces"}


def required(field: str, what: str = "") -> StatusCause:
    """A field that is not there."""
    return StatusCause("FieldValueRequired", f"Required value{': ' if what else ''}{what}", field)


def wrong(field: str, value: object, why: str) -> StatusCause:
    """A value that cannot be."""
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return StatusCause("FieldValueInvalid", f"Invalid value: {shown}: {why}", field)


def _name(resource: Resource, about: Json) -> Iterator[StatusCause]:
    name = str(about.get("name") or "")
    label = resource.plural in _LABEL_NAMES
    if not name:
        yield required("metadata.name", "name or generateName is required")
    elif label and (not re.fullmatch(_LABEL, name) or len(name) > 63):
        yield wrong("metadata.name", name, _BAD_LABEL if len(name) <= 63 else "must be no more than 63 characters")
    elif resource.group == "rbac.authorization.k8s.io":
        return
    elif len(name) > 253:
        yield wrong("metadata.name", name, "must be no more than 253 characters")
    elif not re.fullmatch(_SUBDOMAIN, name):
        yield wrong("metadata.name", name, _BAD_SUBDOMAIN)


def _key(key: str, field: str) -> Iterator[StatusCause]:
    prefix, slash, name = key.rpartition("/")
    if (slash and not re.fullmatch(_SUBDOMAIN, prefix)) or not re.fullmatch(_NAME, name):
        yield wrong(field, key, _BAD_KEY)
    elif len(name) > 63:
        yield wrong(field, key, "name part must be no more than 63 characters")


def _metadata(resource: Resource, about: Json) -> Iterator[StatusCause]:
    yield from _name(resource, about)
    for key, value in (about.get("labels") or {}).items():
        yield from _key(key, "metadata.labels")
        if not re.fullmatch(_VALUE, str(value)):
            yield wrong("metadata.labels", value, _BAD_VALUE)
        elif len(str(value)) > 63:
            yield wrong("metadata.labels", value, "must be no more than 63 characters")
    for key in about.get("annotations") or {}:
        yield from _key(key.lower(), "metadata.annotations")
    size = sum(len(key) + len(str(value)) for key, value in (about.get("annotations") or {}).items())
    if size > MOST_ANNOTATIONS:
        message = f"Too long: may not be more than {MOST_ANNOTATIONS} bytes"
        yield StatusCause("FieldValueTooLong", message, "metadata.annotations")
    for place, owner in enumerate(about.get("ownerReferences") or []):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                yield wrong(f"metadata.ownerReferences[{place}].{field}", "", f"{field} must not be empty")


def _pod(pod: Json) -> Iterator[StatusCause]:
    spec = pod.get("spec") or {}
    if not spec.get("containers"):
        yield required("spec.containers")
    volumes = {volume.get("name") for volume in spec.get("volumes") or []}
    volume_names: set[str] = set()
    for part in ("initContainers", "containers"):
        for place, container in enumerate(spec.get(part) or []):
            yield from _container(container, f"spec.{part}[{place}]", volumes, volume_names)
    for place, volume in enumerate(spec.get("volumes") or []):
        if len(volume) < 2:
            yield required(f"spec.volumes[{place}]", "must specify a volume type")
        if not re.fullmatch(_LABEL, str(volume.get("name", ""))):
            yield wrong(f"spec.volumes[{place}].name", volume.get("name", ""), _BAD_LABEL)


def _container(container: Json, field: str, volumes: set[str | None], volume_names: set[str]) -> Iterator[StatusCause]:
    name = str(container.get("name") or "")
    if not name:
        yield required(f"{field}.name")
    elif not re.fullmatch(_LABEL, name) or len(name) > 63:
        yield wrong(f"{field}.name", name, _BAD_LABEL)
    elif name in volume_names:
        yield StatusCause("FieldValueDuplicate", f'Duplicate value: "{name}"', f"{field}.name")
    volume_names.add(name)
    if not container.get("image"):
        yield required(f"{field}.image")
    for place, mount in enumerate(container.get("volumeMounts") or []):
        if mount.get("name") not in volumes:
            message = f'Not found: "{mount.get("name")}"'
            yield StatusCause("FieldValueNotFound", message, f"{field}.volumeMounts[{place}].name")
    yield from _resources(container.get("resources") or {}, f"{field}.resources")


def _resources(resources: Json, field: str) -> Iterator[StatusCause]:
    """A device is never split or shared: its request equals its limit."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in requests.items():
        if "/" in name and limits.get(name) != value:
            message = "Limit must be set for non overcommitable resources"
            yield (
                required(f"{field}.limits", message)
                if name not in limits
                else wrong(f"{field}.requests", str(value), f"must be equal to {name} limit of {limits[name]}")
            )
    for name, value in limits.items():
        if "/" in name and not str(value).isdigit():
            yield wrong(f"{field}.limits[{name}]", str(value), "must be an integer")


def _secret(secret: Json) -> Iterator[StatusCause]:
    size = sum(len(str(value)) * 3 // 4 for value in (secret.get("data") or {}).values())
    if size > MOST_SECRET:
        yield StatusCause("FieldValueTooLong", f"Too long: may not be more than {MOST_SECRET} bytes", "data")


def _lease(lease: Json) -> Iterator[StatusCause]:
    spec = lease.get("spec") or {}
    if spec.get("leaseDurationSeconds") is not None and spec["leaseDurationSeconds"] <= 0:
        yield wrong("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
    if spec.get("leaseTransitions") is not None and spec["leaseTransitions"] < 0:
        yield wrong("spec.leaseTransitions", spec["leaseTransitions"], "must be greater than or equal to 0")


def _causes(resource: Resource, obj: Json) -> Iterator[StatusCause]:
    yield from _metadata(resource, obj["metadata"])
    own = {PODS: _pod, SECRETS: _secret, LEASES: _lease}.get(resource)
    if own is not None:
        yield from own(obj)


def check_new(resource: Resource, obj: Json) -> None:
    """Refuses what cannot be stored. Raises 422."""
    if causes := list(_causes(resource, obj)):
        raise invalid(resource, str(obj["metadata"].get("name", "")), causes)


def _fixed(pod: Json) -> Json:
    """A pod's spec without what may be changed."""
    spec = dict(pod.get("spec") or {})
    for part in ("containers", "initContainers"):
        spec[part] = [{name: value for name, value in item.items() if name != "image"} for item in spec.get(part) or []]
    for name in ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"):
        spec.pop(name, None)
    return spec


def _changes(resource: Resource, old: Json, obj: Json) -> Iterator[StatusCause]:
    if resource is PODS and _fixed(old) != _fixed(obj):
        yield StatusCause("FieldValueForbidden", f"Forbidden: {_CHANGEABLE}", "spec")
    elif resource is PODS:
        left = (obj.get("spec") or {}).get("tolerations") or []
        if any(toleration not in left for toleration in old["spec"].get("tolerations") or []):
            message = "Forbidden: existing toleration can not be modified except its tolerationSeconds"
            yield StatusCause("FieldValueForbidden", message, "spec.tolerations")
    if resource is SECRETS and old.get("immutable") and old.get("data") != obj.get("data"):
        yield StatusCause("FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set", "data")
    if resource is SECRETS and old.get("type") != obj.get("type"):
        yield wrong("type", str(obj.get("type")), "field is immutable")
    added = set(obj["metadata"].get("finalizers") or []) - set(old["metadata"].get("finalizers") or [])
    if added and old["metadata"].get("deletionTimestamp"):
        why = "no new finalizers can be added if the object is being deleted"
        message = f"Forbidden: {why}, found new finalizers {sorted(added)}"
        yield StatusCause("FieldValueForbidden", message, "metadata.finalizers")


def check_update(resource: Resource, old: Json, obj: Json) -> None:
    """Refuses a new form of an object that cannot follow its old one. Raises 422."""
    if causes := [*_causes(resource, obj), *_changes(resource, old, obj)]:
        raise invalid(resource, old["metadata"]["name"], causes)
