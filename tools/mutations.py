"""Changes files and values as an agent could leave them: damaged, cut, or with content that no reader expects.

The shares of the kinds of changes were chosen because they find errors; they have no other meaning.
"""

import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

ODD_TEXTS = (
    *("", "x", "maybe", "True", "none", "NULL", "../NULL", "#_bm", "0", "-1", "1", "0x10", "1,", "1.5", "1e999", "nan"),
    *("-0", "99999999", "2147483648", "-9223372036854775809", "1" * 400, "A1:XFD1048576", "#REF!", "\u0000", "\ufffe"),
    *("\ud7ff", "'", '"', "<", "&", "%s%n", "/etc/passwd", "https://[", "zzz", "2024-13-45", "auto", "rId999"),
)
_ATTRIBUTE = re.compile(rb'(?<=[\s:]\w)?([\w:]+)="([^"]*)"')
_ELEMENT = re.compile(rb"<([\w:]+)[^<>]*?(?:/>|>[^<]*</\1>)")
_TOKEN = re.compile(rb"[-+]?\d+(?:\.\d+)?|[A-Za-z_]{2,}|\"[^\"\n]*\"")
_ZIP = b"PK\x03\x04"
_TEXTUAL = re.compile(rb"[\t\n\r\x20-\x7e\x80-\xff]*")
Change = Callable[[random.Random, bytes], bytes]


def mutated(rng: random.Random, data: bytes) -> bytes:
    """One to three changes that suit the file's kind."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = _mutate(rng, data)
    return data


def mutated_value(rng: random.Random, value: Any) -> Any:
    """A getter's value with one text changed, or a list cut; its shape is the getter's, not the agent's."""
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value, key=str))
        return {**value, key: mutated_value(rng, value[key])}
    if isinstance(value, list) and value:
        index = rng.randrange(len(value))
        item = [] if rng.random() < 0.1 else [mutated_value(rng, value[index])]  # noqa: PLR2004
        return [*value[:index], *item, *value[index + 1 :]]
    if isinstance(value, str):
        return _mutate(rng, value.encode("utf-8", "replace")).decode("utf-8", "replace")
    return value


def _mutate(rng: random.Random, data: bytes) -> bytes:
    if data.startswith(_ZIP) and rng.random() < 0.9:  # noqa: PLR2004
        return _member(rng, data)
    if _TEXTUAL.fullmatch(data[:4096]) and rng.random() < 0.9:  # noqa: PLR2004
        return rng.choice(
            (_attribute, _element, _token, _token, _line) if b"<" in data[:200] else (_token, _token, _line)
        )(rng, data)
    return rng.choice((_bits, _cut, _repeat, _insert))(rng, data)


def _member(rng: random.Random, data: bytes) -> bytes:
    """Changes, drops or renames one file of an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = {name: package.read(name) for name in package.namelist()}
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
        return _bits(rng, data)
    if not members:
        return data
    name = rng.choice(sorted(members))
    chance = rng.random()
    if chance < 0.05:  # noqa: PLR2004
        del members[name]
    elif chance < 0.08:  # noqa: PLR2004
        members[f"{name}x"] = members.pop(name)
    else:
        members[name] = _mutate(rng, members[name])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for member, content in members.items():
            package.writestr(member, content)
    return out.getvalue()


def _odd(rng: random.Random) -> bytes:
    return rng.choice(ODD_TEXTS).encode("utf-8", "surrogatepass")


def _attribute(rng: random.Random, data: bytes) -> bytes:
    places = list(_ATTRIBUTE.finditer(data))
    if not places:
        return _token(rng, data)
    match = rng.choice(places)
    if rng.random() < 0.15:  # noqa: PLR2004
        return data[: match.start()] + data[match.end() :]
    return data[: match.start(2)] + _odd(rng).replace(b'"', b"&quot;") + data[match.end(2) :]


def _element(rng: random.Random, data: bytes) -> bytes:
    places = list(_ELEMENT.finditer(data))
    if len(places) < 2:  # noqa: PLR2004 - there is nothing to put elsewhere.
        return _token(rng, data)
    first, second = rng.choice(places), rng.choice(places)
    chance = rng.random()
    if chance < 0.4:  # noqa: PLR2004
        return data[: first.start()] + data[first.end() :]
    if chance < 0.7:  # noqa: PLR2004
        return data[: first.start()] + second[0] + data[first.end() :]
    return data[: first.end()] + second[0] * rng.choice((1, 1, 300)) + data[first.end() :]


def _token(rng: random.Random, data: bytes) -> bytes:
    places = list(_TOKEN.finditer(data))
    if not places:
        return _insert(rng, data)
    match = rng.choice(places)
    new = json.dumps(rng.choice(ODD_TEXTS)).encode() if match[0].startswith(b'"') and rng.random() < 0.5 else _odd(rng)  # noqa: PLR2004
    return data[: match.start()] + new + data[match.end() :]


def _line(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    index = rng.randrange(len(lines))
    new = rng.choice(
        ([], [lines[index]] * 2, [lines[index][: len(lines[index]) // 2]], [_odd(rng) + b"\n", lines[index]])
    )
    return b"".join([*lines[:index], *new, *lines[index + 1 :]])


def _bits(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 8)) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.choice((1, 16, 512))]
    return data[:start] + piece * rng.choice((2, 50)) + data[start:]


def _insert(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + rng.choice((b"\xff\xff\xff\xff", b"\0" * 16, _odd(rng))) + data[start:]
