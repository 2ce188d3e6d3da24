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
_DIFFERENCES = frozenset({"sub", "truediv", "floordiv", "mod", "divmod"})
_MEASURES = frozenset({"abs", "round", "trunc", "int", "float", "index", "neg", "pos", "bool"})
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


class RemoteObject:
    """An object of the other side. Its class is what it says only for containers, whose content is plain data."""

    __slots__ = ("_remote_is_difference", "_remote_kind", "_remote_number", "_remote_peer")

    def __init__(self, peer: Any, number: int, kind: str) -> None:
        object.__setattr__(self, "_remote_peer", peer)
        object.__setattr__(self, "_remote_number", number)
        object.__setattr__(self, "_remote_kind", kind)
        object.__setattr__(self, "_remote_is_difference", False)

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
        """A class that only has this method answers itself; the content of all others is compared here."""
        if _kind(self):
            return key in _ask(self, "value")
        try:
            iterator = _ask(self, "iter")
        except TypeError:
            return bool(_ask(self, "contains", key))
        return any(other_key == key for other_key in iterator)

    def __iter__(self) -> Iterator[Any]:
        iterator = _ask(self, "iter")
        while True:
            try:
                yield _ask(iterator, "next")
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
    def unary(self: RemoteObject, *arguments: Any) -> Any:
        if name in _MEASURES and object.__getattribute__(self, "_remote_is_difference"):
            raise TypeError("the size of a difference from an object that cannot be converted to a float")
        return _ask(self, name, *arguments)

    return unary


def _binary(name: str) -> Callable[[RemoteObject, Any], Any]:
    return lambda self, other: _calculate(self, name, self, other)


def _reflected_operator(name: str) -> Callable[[RemoteObject, Any], Any]:
    return lambda self, other: _calculate(self, name, other, self)


def _calculate(remote: RemoteObject, name: str, left: Any, right: Any) -> Any:
    """Arithmetic. Tests compare numbers by their difference, so the program must give its number first.

    Raises:
        TypeError: an object that cannot be converted to a float has a number as its difference.
    """
    other = right if left is remote else left
    if type(other) is not RemoteObject and _kind(remote):
        sides = [_ask(operand, "value") if operand is remote else operand for operand in (left, right)]
        return _operation(name)(*sides)
    if type(other) is RemoteObject or name not in _DIFFERENCES:
        return _peer(remote).ask(name, left, right)
    try:
        number = _ask(remote, "float")
    except (TypeError, ValueError, AttributeError):
        return _as_difference(_peer(remote).ask(name, left, right))
    return _operation(name)(*(number if operand is remote else operand for operand in (left, right)))


def _operation(name: str) -> Callable[[Any, Any], Any]:
    operation: Callable[[Any, Any], Any] = divmod if name == "divmod" else getattr(operator, f"__{name}__")
    return operation


def _as_difference(result: Any) -> RemoteObject:
    if type(result) is not RemoteObject:
        raise TypeError("the difference from an object that cannot be converted to a float")
    object.__setattr__(result, "_remote_is_difference", True)
    return result


def _comparison(name: str) -> Callable[[RemoteObject, Any], Any]:
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
    setattr(RemoteObject, f"__r{_name}__", _reflected_operator(_name))
for _name in COMPARISONS:
    setattr(RemoteObject, f"__{_name}__", _comparison(_name))
