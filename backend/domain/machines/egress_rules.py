"""Network access of a desktop during one attempt. Decided from its task, never from inside it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import Field

from backend.domain.model.parameters import ASSET
from backend.domain.model.task import JSON, Frozen, Task

ANYWHERE = "*"
"""As a host: all public hosts."""
_ADDRESS = re.compile(r"https?://[^\s\"'<>()\[\]{}\\^`|]+")
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_LONGEST_NAME = 253
_BROUGHT = frozenset({"download", "googledrive"})
"""Steps whose addresses only the service downloads. A desktop that could reach the same server would find the solutions
of the published suites beside the initial files.
"""


class EgressRules(Frozen):
    """Rules of a desktop's egress gateway.

    Attributes:
        hosts: allowed hosts: `example.org`, `*.example.org` for all below it, `example.org:8443` for a port besides 80
            and 443, `*` for every public host.
        files: address -> artifact hash of responses served by the gateway itself.
        proxy: address of the upstream proxy, `http://user:password@host:port`; empty = direct.
        mocked: `host:port` of every https address among `files` that comes from a mock. The gateway impersonates these
            hosts with its own certificates; nothing else on them is reachable.
    """

    hosts: tuple[str, ...] = ()
    files: Mapping[str, str] = Field(default_factory=dict)
    proxy: str = Field(default="", repr=False)
    mocked: tuple[str, ...] = ()


def way_out_of(task: Task, assets: Mapping[str, str], *, egress: str, hosts: Sequence[str], proxy: str) -> EgressRules:
    """The egress rules of a task.

    Args:
        task: its set-up and instruction name hosts; its evaluator is ignored.
        assets: hash of every asset by name and of every downloaded file by address.
        egress: the operator's setting: `none`, `tasks` or `any`.
        hosts: hosts that the operator allows for every desktop.
        proxy: the operator's proxy, for tasks that need one; empty without one.
    """
    named = {"none": (), "tasks": _hosts(task), "any": (ANYWHERE,)}[egress]
    mocks = _mocks(task, assets)
    return EgressRules(
        hosts=tuple(dict.fromkeys((*hosts, *named))),
        files=_brought(task, assets) | mocks,
        proxy=proxy if wants_proxy(task) else "",
        mocked=tuple(dict.fromkeys(filter(None, map(mocked_place, mocks)))),
    )


def mocked_place(url: str) -> str:
    """`host:port` of an https address whose host can be in a certificate; empty for any other address."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port or 443
    except ValueError:
        return ""
    numeric = host.rpartition(".")[2][:1].isdigit()  # An IP address in any notation.
    named = len(host) <= _LONGEST_NAME and _NAME.fullmatch(host) is not None and not numeric
    return f"{host}:{port}" if parts.scheme == "https" and named else ""


def wants_proxy(task: Task) -> bool:
    """Whether the task needs the operator's proxy, by its label or by a step."""
    return task.raw.get("proxy") is True or any(step.type == "proxy" for step in task.setup)


def _brought(task: Task, assets: Mapping[str, str]) -> dict[str, str]:
    """Files that set-up downloads."""
    brought = [step.parameters for step in task.setup if step.type in _BROUGHT]
    return {url: assets[url] for url in _addresses(brought) if url in assets}


def _mocks(task: Task, assets: Mapping[str, str]) -> dict[str, str]:
    """Addresses replaced by the task's `mocks` (in its file or labels)."""
    files = {}
    for mocks in (task.raw.get("mocks"), task.labels.extra.get("mocks")):
        for url, name in mocks.items() if isinstance(mocks, Mapping) else ():
            key = str(name).removeprefix(ASSET)
            if key in assets:
                files[str(url)] = assets[key]
    return files


def _hosts(task: Task) -> tuple[str, ...]:
    """The hosts of the task's own addresses, and their subdomains."""
    steps = [step.parameters for step in task.setup if step.type not in _BROUGHT]
    hosts: dict[str, None] = {}
    for url in _addresses([task.instruction, steps]):
        try:
            parts = urlsplit(url.rstrip(".,;:!?"))
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            continue
        if host:
            below = host.removeprefix("www.")
            tail = f":{port}" if port else ""
            hosts |= dict.fromkeys((f"{host}{tail}", f"{below}{tail}", f"*.{below}{tail}"))
    return tuple(hosts)


def _addresses(value: JSON) -> Iterator[str]:
    """Every http(s) address in a JSON value."""
    if isinstance(value, str):
        is_url = value.startswith(("http://", "https://"))
        yield from [value] if is_url else _ADDRESS.findall(value)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _addresses(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _addresses(part)
