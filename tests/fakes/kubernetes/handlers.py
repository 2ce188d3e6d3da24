"""From a request to an answer: rights, then the verb."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.fakes.kubernetes import decoding, discovery, lifecycle, patches, rbac, status, subresources, tables
from tests.fakes.kubernetes.kinds import Json, Resource
from tests.fakes.kubernetes.requests import Request
from tests.fakes.kubernetes.selectors import Test, both, by_fields, by_labels
from tests.fakes.kubernetes.state import State
from tests.fakes.kubernetes.verbs import ListPage
from tests.fakes.kubernetes.watching import Wanted, Watch

JSON = "application/json"


@dataclass
class Answer:
    """A response, before it is written.

    Attributes:
        stream: pieces that come one after the other, in place of a body.
    """

    code: int
    body: bytes = b""
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: Iterator[bytes] | None = None
    watch: Watch | None = None


def _json(obj: object, code: int = 200) -> Answer:
    return Answer(code, json.dumps(obj, separators=(",", ":")).encode())


def refused(refusal: status.Refusal) -> Answer:
    """The answer that an error becomes."""
    answer = _json(refusal.body(), refusal.code)
    if refusal.plain:
        answer = Answer(refusal.code, f"{refusal.message}\n".encode(), "text/plain; charset=utf-8")
    answer.headers = refusal.headers
    return answer


def answer(state: State, request: Request, user: rbac.User) -> Answer:
    """Carries out the request. Raises Refusal."""
    wish = request.wish
    if request.path == rbac.REVIEWS and request.method == "POST":
        return _json(rbac.reviewed(user, decoding.parsed(request.body, JSON)), 201)
    if wish is None or request.resource is None:
        return _page(request)
    if not rbac.granted(user, wish):
        raise rbac.refusal(user, wish)
    if request.sub and request.sub != "status":
        return _sub(state, request)
    answer = _VERBS[request.verb](state, request, request.resource)
    if request.warnings:
        answer.headers = {**answer.headers, "Warning": ", ".join(_warning(warning) for warning in request.warnings)}
    return answer


def _warning(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{escaped}"'


def _page(request: Request) -> Answer:
    page_body = discovery.page(request.path)
    if page_body is None:
        raise status.no_such_page()
    return Answer(200, page_body.encode(), "text/plain") if isinstance(page_body, str) else _json(page_body)


def _level(request: Request) -> str:
    return request.query.get("fieldValidation") or "Warn"


def _body(request: Request, resource: Resource) -> Json:
    parsed_body = decoding.parsed(request.body, request.headers.get("content-type", JSON))
    return decoding.checked(resource, parsed_body, _level(request), request.warnings)


def _test(request: Request, resource: Resource) -> Test | None:
    return both(
        by_labels(request.query.get("labelSelector", "")), by_fields(resource, request.query.get("fieldSelector", ""))
    )


def _get(state: State, request: Request, resource: Resource) -> Answer:
    obj = state.verbs.get(resource, (request.namespace, request.name))
    if tables.wanted(request):
        return _json(tables.table(resource, [obj.data], obj.revision))
    return Answer(200, obj.encoded)


def _list(state: State, request: Request, resource: Resource) -> Answer:
    _check_list_version(state, request, resource)
    limit, token = int(request.query.get("limit") or 0), request.query.get("continue", "")
    page = state.verbs.page(resource, request.namespace, _test(request, resource), limit, token)
    if tables.wanted(request):
        return _json(tables.table(resource, [item.data for item in page.items], page.revision))
    return Answer(200, _encoded(resource, page))


def _encoded(resource: Resource, page: ListPage) -> bytes:
    """A list, put together of what is JSON already."""
    about: Json = {"resourceVersion": str(page.revision)}
    if page.token:
        about |= {"continue": page.token, "remainingItemCount": page.left}
    head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": about}
    return json.dumps(head).encode()[:-1] + b',"items":[' + b",".join(item.listed for item in page.items) + b"]}"


def _check_list_version(state: State, request: Request, resource: Resource) -> None:
    asked = _version(request)
    if asked is None or request.query.get("continue"):
        return
    if asked > state.store.revision:
        raise status.too_new(asked, state.store.revision)
    if request.query.get("resourceVersionMatch") == "Exact" and asked < state.store.shelf(resource).compacted:
        raise status.expired("The resourceVersion for the provided list is too old.")


def _version(request: Request) -> int | None:
    text = request.query.get("resourceVersion", "")
    if not text or text == "0":
        return None
    if not text.isdigit():
        why = f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise status.Refusal(400, "BadRequest", f"resourceVersion: {why}")
    return int(text)


def _watch(state: State, request: Request, resource: Resource) -> Answer:
    query = request.query
    wanted = Wanted(
        resource,
        request.namespace,
        request.name,
        _test(request, resource),
        _version(request),
        float(query.get("timeoutSeconds") or state.longest_watch),
        state.bookmarks if request.flag("allowWatchBookmarks") else 0.0,
        request.flag("sendInitialEvents"),
    )
    watch = Watch(state.store, wanted)
    return Answer(200, stream=iter(watch), watch=watch)


def _create(state: State, request: Request, resource: Resource) -> Answer:
    obj = state.verbs.create(resource, _body(request, resource), request.namespace, dry=request.dry)
    return _json(obj, 201)


def _update(state: State, request: Request, resource: Resource) -> Answer:
    obj = _body(request, resource)
    named = (obj.get("metadata") or {}).get("name", request.name)
    if named != request.name:
        message = f"the name of the object ({named}) does not match the name on the URL ({request.name})"
        raise status.bad_request(message)
    key = (request.namespace, request.name)
    return _json(state.verbs.update(resource, key, obj, request.sub, dry=request.dry))


def _patch(state: State, request: Request, resource: Resource) -> Answer:
    media = request.headers.get("content-type", "").partition(";")[0]
    if media not in {patches.MERGE, patches.STRATEGIC, patches.STEPS, *patches.APPLY}:
        raise status.Refusal(415, "UnsupportedMediaType", f"the body of the request was in an unknown format - {media}")
    key, patch = (request.namespace, request.name), decoding.parsed(request.body, media)
    with state.store.lock:
        if media in patches.APPLY and state.store.get(resource, key) is None:
            obj = decoding.checked(resource, patch, _level(request), request.warnings)
            obj.setdefault("metadata", {})["name"] = request.name
            return _json(state.verbs.create(resource, obj, request.namespace, dry=request.dry), 201)
        old = state.verbs.get(resource, key).data
        obj = patches.applied(old, patch, media)
        obj = decoding.checked_patch(resource, obj, request.body, _level(request), request.warnings)
        return _json(state.verbs.replace_patched(resource, key, obj, request.sub, dry=request.dry))


def _options(request: Request) -> Json:
    options_body = decoding.parsed(request.body, JSON) if request.body.strip() else {}
    for name in ("gracePeriodSeconds", "propagationPolicy"):
        if name in request.query:
            value = request.query[name]
            options_body[name] = int(value) if name == "gracePeriodSeconds" else value
    return {**options_body, **({"dryRun": ["All"]} if request.dry else {})}


def _delete(state: State, request: Request, resource: Resource) -> Answer:
    key = (request.namespace, request.name)
    obj, gone = lifecycle.delete(state.store, resource, key, _options(request))
    if not gone or resource.plural == "pods":
        return _json(obj)
    details = {"name": request.name, "group": resource.group, "kind": resource.plural, "uid": obj["metadata"]["uid"]}
    named_details = {name: value for name, value in details.items() if value}
    return _json({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": named_details})


def _delete_all(state: State, request: Request, resource: Resource) -> Answer:
    page, options = state.verbs.page(resource, request.namespace, _test(request, resource)), _options(request)
    for item in page.items:
        about = item.data["metadata"]
        lifecycle.delete(state.store, resource, (about.get("namespace", ""), about["name"]), options)
    return Answer(200, _encoded(resource, page))


def _sub(state: State, request: Request) -> Answer:
    if request.sub == "log" and request.method == "GET":
        text = subresources.log(state, request)
        return (
            Answer(200, text, "text/plain") if isinstance(text, bytes) else Answer(200, b"", "text/plain", stream=text)
        )
    if request.sub == "eviction" and request.method == "POST":
        return _json(subresources.evict(state, request), 201)
    if request.sub == "binding" and request.method == "POST":
        return _json(subresources.bind(state, request), 201)
    raise status.no_such_page()


_VERBS = {
    "get": _get, "list": _list, "watch": _watch, "create": _create, "update": _update, "patch": _patch,
    "delete": _delete,    "deletecollection": _delete_all,
}  # fmt: skip
