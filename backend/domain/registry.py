"""Registry of plug-ins by kind and name.

A plug-in registers itself with a decorator in the file with its name; `load()` imports those files once at start-up.
The key is (kind, dialect, name): a task's dialect is searched first, then the one it is based on, then `common`.
"""

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from backend.domain.errors import UnknownPlugin

COMMON = "common"
BASES = {"prosoftarena": "waa"}
"""Dialects that extend another one, where missing names are looked up before `common`."""
T = TypeVar("T")


class PluginKind(StrEnum):
    """The kinds of plug-in and, by value, the package under `backend.domain` (or `worker`) that holds them."""

    BENCHMARK = "benchmarks"
    SETUP = "setup"
    GETTER = "evaluators.getters"
    METRIC = "evaluators.metrics"
    PROTOCOL = "evaluators.protocols"
    TRAINING = "training"
    OBSERVATION = "observations"
    ACTION_SPACE = "actions"
    AGENT = "agents"
    PROVIDER = "providers"
    MODEL = "models"


_plugins: dict[tuple[PluginKind, str, str], Any] = {}
_loaded: set[str] = set()
"""Packages whose every file is imported: looking through them takes 15 ms, in requests too."""
_DOMAIN_KINDS = tuple(kind for kind in PluginKind if kind not in {PluginKind.PROVIDER, PluginKind.MODEL})


def register(kind: PluginKind, name: str, *, dialect: str = COMMON) -> Callable[[T], T]:
    """Registers the decorated class or function under (kind, dialect, name).

    Raises:
        ValueError: another plug-in has that key already. A programming error, so it stops the start-up.
    """

    def enter(plugin: T) -> T:
        key = (kind, dialect, name)
        registered = _plugins.get(key)
        if registered is not None and registered.__module__ != getattr(plugin, "__module__", None):
            raise ValueError(f"{kind.name.lower()} {name!r} ({dialect}) is registered twice")
        _plugins[key] = plugin
        return plugin

    return enter


def unregister(kind: PluginKind, name: str, *, dialect: str = COMMON) -> None:
    """Removes a plug-in that was registered for a while, such as a test's."""
    del _plugins[kind, dialect, name]


def lookup(kind: PluginKind, name: str, dialect: str = COMMON) -> Any:
    """The plug-in called `name`, in the task's dialect if it has its own, else the common one.

    Raises:
        UnknownPlugin: the name is unknown; the message suggests similar ones.
    """
    for where in _lookup_order(dialect):
        if (kind, where, name) in _plugins:
            return _plugins[kind, where, name]
    word = kind.name.lower().replace("_", " ")
    near = difflib.get_close_matches(name, names(kind, dialect), n=3)
    hint = f"Did you mean {', '.join(near)}?" if near else f"Known: {', '.join(names(kind, dialect)) or 'none'}."
    raise UnknownPlugin(f"there is no {word} called {name!r}", hint=hint)


def names(kind: PluginKind, dialect: str | None = None) -> list[str]:
    """Sorted names of a kind; with `dialect`, those that a task of that dialect can use."""
    return sorted(
        {n for (k, d, n) in _plugins if k is kind and (dialect is None or d in _lookup_order(dialect))},
    )


def _lookup_order(dialect: str) -> tuple[str, ...]:
    return (dialect, BASES[dialect], COMMON) if dialect in BASES else (dialect, COMMON)


def entries(kind: PluginKind) -> dict[tuple[str, str], Any]:
    """All plug-ins of a kind, keyed by (dialect, name); for contract suites and documentation checks."""
    return {(d, n): plugin for (k, d, n), plugin in _plugins.items() if k is kind}


def load(*packages: str) -> None:
    """Imports every plug-in file of the domain, and of `packages` (for example `worker.providers`), once.

    An import error is a broken installation and is not hidden.
    """
    for root in (*(f"backend.domain.{kind.value}" for kind in _DOMAIN_KINDS), *packages):
        if root not in _loaded:
            package = importlib.import_module(root)
            for module in pkgutil.walk_packages(package.__path__, f"{root}."):
                importlib.import_module(module.name)
            _loaded.add(root)
