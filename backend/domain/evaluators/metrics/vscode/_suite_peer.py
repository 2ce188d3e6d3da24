"""Calls between two processes that do not trust each other: the tests of a program, and the program.

Each side has the other's objects as `RemoteObject`s. Plain values cross by value: numbers, texts, bytes, and lists and
the like of them; lists, dictionaries and sets that are read from an attribute or an item stay where they are, so that
tests can change them. Arguments that a call changes in place are changed on the caller's side, too. Nothing that comes
from the other side is executed or unpickled. A message is a line of JSON.

Standard library only: both processes run this file outside of the checkout's environment.
"""

import builtins
import contextlib
import datetime as dt
import decimal
import fractions
import importlib
import io
import json
import operator
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

if __name__ == "_suite_peer":
    from _suite_remote import BINARY, COMPARISONS, CONTAINERS, RemoteObject, number_of  # type: ignore[import-not-found]
else:
    from backend.domain.evaluators.metrics.vscode._suite_remote import (
        BINARY,
        COMPARISONS,
        CONTAINERS,
        RemoteObject,
        number_of,
    )

MAX_LINE = 32 * 2**20
_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "float": float,
    "complex": complex,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
}
_TO_TEXT: dict[type, Callable[[Any], str]] = {
    float: repr,
    complex: repr,
    decimal.Decimal: str,
    fractions.Fraction: str,
    dt.date: dt.date.isoformat,
    dt.datetime: dt.datetime.isoformat,
    dt.time: dt.time.isoformat,
}
_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "bytearray": bytearray, "bytes": bytes,
}  # fmt: skip
_INNER = ("_", "f_", "gi_", "cr_", "ag_", "tb_", "func_")
"""Beginnings of attributes that lead from an object to the code and variables around it."""
_OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, f"__{name}__") for name in (*BINARY, *COMPARISONS) if name != "divmod"},
    **{name: getattr(operator, f"__{name}__") for name in ("neg", "pos", "abs", "invert", "index")},
    **{
        name: getattr(builtins, name)
        for name in ("len", "int", "float", "bool", "str", "repr", "hash", "round", "divmod")
    },
    "trunc": int,
    "get": getattr,
    "set": setattr,
    "del": delattr,
    "item": operator.getitem,
    "set_item": operator.setitem,
    "del_item": operator.delitem,
    "contains": operator.contains,
    "dir": dir,
    "iter": iter,
    "next": next,
    "instance": isinstance,
    "value": lambda value: value,
}
_LIVE = frozenset({"get", "item", "next"})
"""Operations whose containers stay where they are."""


class ProgramEnded(Exception):
    """The other side is gone."""


class Peer:
    """One end of the line.

    Args:
        line: the connected socket.
        trusts: whether the other side may do everything with the objects that it was given; else it may call them and
            use their public attributes and items, but neither name libraries nor use methods of plain values.
        services: functions that the other side may call by name.
    """

    def __init__(self, line: socket.socket, *, trusts: bool, services: dict[str, Callable[..., Any]]) -> None:
        self._line = line.makefile("rwb")
        self._trusts, self._services = trusts, services
        self._lent: dict[int, Any] = {}
        self._classes: dict[int, type[BaseException]] = {}

    def ask(self, operation: str, *arguments: Any, **options: Any) -> Any:
        """Has the other side do something; meanwhile it may ask this one. Raises what it raised, or ProgramEnded."""
        packed = [self._pack(argument) for argument in arguments]
        self._send(
            {"do": operation, "args": packed, "options": {key: self._pack(option) for key, option in options.items()}}
        )
        while True:
            message = self._receive()
            if "do" in message:
                self._serve(message)
                continue
            sys.stdout.write(str(message.get("out", "")))
            if "raised" in message:
                raise self._error(message["raised"])
            for own, changed in zip(arguments, message["args"], strict=False):
                _restore(own, self._unpack(changed) if changed is not None else own)
            return self._unpack(message["value"])

    def serve_forever(self) -> None:
        """Answers until the other side hangs up."""
        with contextlib.suppress(ProgramEnded):
            while True:
                message = self._receive()
                if "do" in message:
                    self._serve(message)

    def _serve(self, message: dict[str, Any]) -> None:
        answer: dict[str, Any]
        try:
            operation = str(message["do"])
            if not self._trusts:
                _check_request(operation, message)
            arguments = [self._unpack(argument) for argument in message["args"]]
            options = {str(key): self._unpack(option) for key, option in message["options"].items()}
            value = self._do(operation, arguments, options)
            changed = [
                self._pack(argument) if type(argument) in CONTAINERS.values() else None for argument in arguments
            ]
            answer = {"value": self._pack(value, live=operation in _LIVE), "args": changed}
        except ProgramEnded:
            raise
        except BaseException as error:  # noqa: BLE001 - the other side is told whatever it is.
            answer = {"raised": self._pack_error(error)}
        if isinstance(sys.stdout, ProgramOutput):
            answer["out"] = sys.stdout.take()
        self._send(answer)

    def _do(self, operation: str, arguments: list[Any], options: dict[str, Any]) -> Any:
        if operation in self._services:
            return self._services[operation](*arguments, **options)
        if not self._trusts and operation in {"get", "set", "del"} and str(arguments[1]).startswith(_INNER):
            raise AttributeError(str(arguments[1]))
        if operation == "call":
            return arguments[0](*arguments[1:], **options)
        return _OPERATIONS[operation](*arguments)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._line.write(json.dumps(message).encode() + b"\n")
            self._line.flush()
        except (OSError, ValueError) as error:
            raise ProgramEnded("the program has ended") from error

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._line.readline(MAX_LINE)
            message = json.loads(line) if line.endswith(b"\n") else None
        except (OSError, ValueError, RecursionError) as error:
            raise ProgramEnded("the program's answer cannot be read") from error
        if not isinstance(message, dict):
            raise ProgramEnded("the program has ended")
        return message

    def _pack(self, value: Any, *, live: bool = False) -> Any:  # noqa: PLR0911 - a line for each kind of value.
        kind = type(value)
        if value is None or kind in {bool, int, str}:
            return value
        if isinstance(value, RemoteObject):
            return {"yours": number_of(value)}
        if live and kind in CONTAINERS.values():
            return self._lend(value, kind.__name__)
        if kind is types.ModuleType and value.__name__ in sys.stdlib_module_names:
            return {"library": value.__name__}
        if kind in _TO_TEXT:
            return {kind.__name__: _TO_TEXT[kind](value)}
        if kind is dict:
            return {"dict": [[self._pack(key), self._pack(item)] for key, item in value.items()]}
        if kind.__name__ in _SEQUENCES and kind is _SEQUENCES[kind.__name__]:
            return {kind.__name__: [self._pack(item) for item in value]}
        return self._lend(value, "")

    def _lend(self, value: Any, kind: str) -> dict[str, Any]:
        self._lent[id(value)] = value
        return {"mine": id(value), "kind": kind, "error": self._bases(value) if isinstance(value, type) else []}

    def _bases(self, kind: type) -> list[str]:
        """The class's own name and those of its builtin ancestors, if it is an exception."""
        if not issubclass(kind, BaseException):
            return []
        return [kind.__name__, *(base.__name__ for base in kind.__mro__ if base.__module__ == "builtins")]

    def _unpack(self, packed: Any) -> Any:  # noqa: PLR0911 - a line for each kind of value.
        if not isinstance(packed, dict):
            return packed
        if "mine" in packed:
            if packed.get("error"):
                return self._exception(packed)
            return RemoteObject(self, int(packed["mine"]), str(packed["kind"]))
        ((name, content),) = packed.items()
        if name == "library" and content in sys.stdlib_module_names:
            return importlib.import_module(content)
        if name == "yours":
            return self._lent[content]
        if name == "dict":
            return {self._unpack(key): self._unpack(item) for key, item in content}
        if name in _SEQUENCES:
            return _SEQUENCES[name]([self._unpack(item) for item in content])
        return _FROM_TEXT[name](content)

    def _exception(self, packed: dict[str, Any]) -> type[BaseException]:
        """A class here that stands for an exception of the other side; a builtin one is itself."""
        number, names = int(packed["mine"]), [str(base) for base in packed["error"]]
        known = [getattr(builtins, name, None) for name in names]
        bases = [
            exception for exception in known if isinstance(exception, type) and issubclass(exception, BaseException)
        ]
        builtin: type[BaseException] = bases[0]
        if names[0] == names[1]:
            return builtin
        if number not in self._classes:
            self._classes[number] = type(names[0], (builtin,), {})
        return self._classes[number]

    def _pack_error(self, error: BaseException) -> dict[str, Any]:
        try:
            text = str(error)
        except BaseException:  # noqa: BLE001 - the program's own method may raise anything.
            text = ""
        module = error.name if isinstance(error, ModuleNotFoundError) else None
        return {"class": self._lend(type(error), ""), "text": text[:10_000], "module": module}

    def _error(self, raised: dict[str, Any]) -> BaseException:
        kind = self._unpack(raised["class"])
        if kind is ModuleNotFoundError:
            return ModuleNotFoundError(str(raised["text"]), name=str(raised["module"]))
        try:
            error: BaseException = kind(str(raised["text"]))
        except Exception:  # noqa: BLE001 - a builtin class that wants other arguments.
            error = RuntimeError(str(raised["text"]))
        return error


def _check_request(operation: str, message: dict[str, Any]) -> None:
    """Raises PermissionError for a request that leads further than to the objects that were given."""
    if _names_library(message["args"]) or _names_library(list(message["options"].values())):
        raise PermissionError("a library of this side")
    target = message["args"][0] if message["args"] else None
    own = isinstance(target, dict) and target.keys() & {"yours", "mine"}
    if operation in {"call", "get", "set", "del"} and not own:
        raise PermissionError(f"{operation} of a plain value")  # The text's `format` reads any attribute.


def _names_library(packed: Any) -> bool:
    if isinstance(packed, dict):
        return "library" in packed or any(map(_names_library, packed.values()))
    return isinstance(packed, list) and any(map(_names_library, packed))


def _restore(own: Any, changed: Any) -> None:
    """Applies the changes that a call made to a container's copy to the container itself."""
    if own is changed or type(own) is not type(changed) or type(own) not in CONTAINERS.values() or own == changed:
        return
    if isinstance(own, list | bytearray):
        own[:] = changed
    else:
        own.clear()
        own.update(changed)


class ProgramOutput(io.StringIO):
    """The program's output, sent with its next answer."""

    def take(self) -> str:
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text
