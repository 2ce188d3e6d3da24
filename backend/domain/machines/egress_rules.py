"""What a desktop may reach beyond itself during one attempt: decided from its task, never by what runs inside."""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import Field

from backend.domain.model.parameters import ASSET
from backend.domain.model.task import JSON, Frozen, Task

ANYWHERE = "*"
"""As a host: every public one."""
_ADDRESS = re.compile(r"https?://[^\s\"'<>()\[\]{}\\^`|]+")
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_LONGEST_NAME = 253
_BROUGHT = frozenset({"download", "googledrive"})
"""Steps whose addresses the service itself asks. A desktop that could ask the same server would find the solutions of
the published suites beside the files that the tasks begin with."""


class EgressRules(Frozen):
    """What the egress gateway of a desktop lets through.

    Attributes:
        hosts: names that may be asked: `example.org`, `*.example.org` for all below it, `example.org:8443` for a port
            besides 80 and 443, `*` for every public host.
        files: address to artifact hash: what the gateway answers itself.
        proxy: address of the proxy that requests go through, `http://user:password@host:port`; empty = directly.
        mocked: `host:port` of every https address among `files` that a mock put there. The gateway itself is these
            hosts, with certificates of its own; nothing else of them is reached.
    """

    hosts: tuple[str, ...] = ()
    files: Mapping[str, str] = Field(default_factory=dict)
    proxy: str = Field(default="", repr=False)
    mocked: tuple[str, ...] = ()


def way_out_of(task: Task, assets: Mapping[str, str], *, egress: str, hosts: Sequence[str], proxy: str) -> EgressRules:
    """The way out for a task.

    Args:
        task: its set-up and its instruction name hosts; its evaluator does not count.
        assets: hash of every asset by name and of every fetched file by address.
        egress: the operator's setting: `none`, `tasks` or `any`.
        hosts: what the operator allows every desktop.
        proxy: the operator's proxy, for tasks that ask for one; empty if there is none.
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
    """`host:port` of an https address whose host a certificate can name; empty for every other address."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port or 443
    except ValueError:
        return ""
    numeric = host.rpartition(".")[2][:1].isdigit()  # An address, or another spelling of one.
    named = len(host) <= _LONGEST_NAME and _NAME.fullmatch(host) is not None and not numeric
    return f"{host}:{port}" if parts.scheme == "https" and named else ""


def wants_proxy(task: Task) -> bool:
    """Whether the task asks for the operator's proxy, by its label or by a step."""
    return task.raw.get("proxy") is True or any(step.type == "proxy" for step in task.setup)


def _brought(task: Task, assets: Mapping[str, str]) -> dict[str, str]:
    """What set-up downloads."""
    brought = [step.parameters for step in task.setup if step.type in _BROUGHT]
    return {url: assets[url] for url in _addresses(brought) if url in assets}


def _mocks(task: Task, assets: Mapping[str, str]) -> dict[str, str]:
    """What the task's `mocks` put in the place of addresses (in its file, or its labels)."""
    files = {}
    for mocks in (task.raw.get("mocks"), task.labels.extra.get("mocks")):
        for url, name in mocks.items() if isinstance(mocks, Mapping) else ():
            key = str(name).removeprefix(ASSET)
            if key in assets:
                files[str(url)] = assets[key]
    return files


def _hosts(task: Task) -> tuple[str, ...]:
    """The hosts that the task's own addresses name, and those below them."""
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
    """Every http(s) address anywhere in a JSON value."""
    if isinstance(value, str):
        whole = value.startswith(("http://", "https://"))
        yield from [value] if whole else _ADDRESS.findall(value)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _addresses(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _addresses(part)
