"""An object of the other side of a `Peer`. Standard library only, as `_suite_peer`."""

import operator
from collections.abc import Callable, Iterator
from typing import Any

CONTAINERS: dict[str, type] = {"list": list, "dict": dict, "set": set, "bytearray": bytearray}
UNARY = (
    "neg",
    "pos",
    "abs",
    "invert",
    "len",
    "int",
    "float",
    "index",
    "bool",
    "str",
    "repr",
    "hash",
    "round",
    "trunc",
)
BINARY = (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


class RemoteObject:
    """An object of the other side. Its class is what it says only for containers, whose content is plain data."""

    __slots__ = ("_remote_kind", "_remote_number", "_remote_peer")

    def __init__(self, peer: Any, number: int, kind: str) -> None:
        object.__setattr__(self, "_remote_peer", peer)
        object.__setattr__(self, "_remote_number", number)
        object.__setattr__(self, "_remote_kind", kind)

    @property
    def __class__(self) -> type:
        return CONTAINERS.get(_kind(self), RemoteObject)

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("an object of the program keeps its class")

    def __getattr__(self, name: str) -> Any:
        return _ask(self, "get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        _ask(self, "set", name, value)

    def __delattr__(self, name: str) -> None:
        _ask(self, "del", name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _peer(self).ask("call", self, *arguments, **options)

    def __getitem__(self, key: Any) -> Any:
        return _ask(self, "item", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _ask(self, "set_item", key, value)

    def __delitem__(self, key: Any) -> None:
        _ask(self, "del_item", key)

    def __contains__(self, key: Any) -> bool:
        return bool(_ask(self, "contains", key))

    def __iter__(self) -> Iterator[Any]:
        rest = _ask(self, "iter")
        while True:
            try:
                yield _ask(rest, "next")
            except StopIteration:
                return

    def __next__(self) -> Any:
        return _ask(self, "next")

    def __enter__(self) -> Any:
        return self.__getattr__("__enter__")()

    def __exit__(self, *_error: object) -> Any:
        return self.__getattr__("__exit__")(None, None, None)

    def __dir__(self) -> list[str]:
        return list(_ask(self, "dir"))

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, RemoteObject) and bool(_ask(instance, "instance", self))

    def __copy__(self) -> Any:
        return _ask(self, "value")

    def __deepcopy__(self, _memo: object) -> Any:
        return _ask(self, "value")


def _kind(remote: RemoteObject) -> str:
    return str(object.__getattribute__(remote, "_remote_kind"))


def number_of(remote: RemoteObject) -> int:
    return int(object.__getattribute__(remote, "_remote_number"))


def _peer(remote: RemoteObject) -> Any:
    peer: Any = object.__getattribute__(remote, "_remote_peer")
    return peer


def _ask(remote: RemoteObject, operation: str, *arguments: Any) -> Any:
    return _peer(remote).ask(operation, remote, *arguments)


def _unary(name: str) -> Callable[..., Any]:
    return lambda self, *arguments: _ask(self, name, *arguments)


def _binary(name: str) -> Callable[[RemoteObject, Any], Any]:
    return lambda self, other: _ask(self, name, other)


def _reflected(name: str) -> Callable[[RemoteObject, Any], Any]:
    return lambda self, other: _peer(self).ask(name, other, self)


def _compared(name: str) -> Callable[[RemoteObject, Any], Any]:
    def compare(self: RemoteObject, other: Any) -> Any:
        """Containers by their values, here; objects of the program among themselves, there; else there is no answer."""
        if _kind(self):
            return getattr(operator, f"__{name}__")(
                _ask(self, "value"), _ask(other, "value") if type(other) is RemoteObject else other
            )
        return _ask(self, name, other) if type(other) is RemoteObject else NotImplemented

    return compare


for _name in UNARY:
    setattr(RemoteObject, f"__{_name}__", _unary(_name))
for _name in BINARY:
    setattr(RemoteObject, f"__{_name}__", _binary(_name))
    setattr(RemoteObject, f"__r{_name}__", _reflected(_name))
for _name in COMPARISONS:
    setattr(RemoteObject, f"__{_name}__", _compared(_name))
