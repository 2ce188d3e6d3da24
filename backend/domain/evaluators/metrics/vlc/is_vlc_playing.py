"""`is_vlc_playing`: VLC plays a file or a stream."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, unquote, urlparse, urlsplit

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

FILE_INFO = ("filename", "title", "uri", "location", "name")
URL_INFO = ("url", "URI", "location", "title", "filename")
"""Upstream's, in its order."""
_PORTS = {"ftp": 21, "http": 80, "https": 443, "mms": 1755, "rtmp": 1935, "rtsp": 554}
_PLACES = ("uri", "URI", "location", "url", "filename", "name")
"""Fields that say where a medium is; a title is its maker's name for it."""


@register(PluginKind.METRIC, "is_vlc_playing")
def is_vlc_playing(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if VLC's state is `playing` and it plays the expected medium.

    Args:
        result: path of VLC's `status.xml`.
        rules: `type` `file_name` with `file_name`, or `url` with `url`. All that says where the medium is has to agree;
            the title counts only where nothing does. A stream may show only the last part of its name.
        strict_upstream: as published, only the first piece of information about the medium is used, and a file name
            may be the end of another one.
    """
    kind = rule(rules, "type")
    if kind not in {"file_name", "url"}:
        raise EvaluatorFailed(f"`type` is {short(kind)}, expected `file_name` or `url`", code="invalid_rule", hint=HINT)
    expected = str(rule(rules, kind))
    root, reason = _status(result)
    if root is None:
        return verdict(met=False, reason=reason)
    state = root.findtext("state")
    if state != "playing":
        return verdict(met=False, reason=f"VLC's state is {short(state)}, expected 'playing'")
    if strict_upstream:
        media = _information(root, FILE_INFO if kind == "file_name" else URL_INFO)[:1]
        right = any(name.endswith(expected) if kind == "file_name" else _published(name, expected) for name in media)
    else:
        media = _places(root, streams=kind == "url")
        right = bool(media) and all(
            (_same_file if kind == "file_name" else _same_stream)(name, expected) for name in media
        )
    return verdict(right, f"VLC plays {short(media)}, expected {short(expected)}")


def _status(path: str | None) -> tuple[Any, str]:
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    text, reason = read_text(path)
    if text is None:
        return None, reason
    try:
        return fromstring(text), ""
    except (ParseError, DefusedXmlException, ValueError) as error:
        return None, f"VLC's status cannot be read: {error}"


def _information(root: Any, names: tuple[str, ...]) -> list[str]:
    elements = [root.find(f'information/category[@name="meta"]/info[@name="{name}"]') for name in names]
    return [element.text for element in elements if element is not None and element.text]


def _places(root: Any, *, streams: bool) -> list[str]:
    """Addresses of the medium, else its title; of a stream only its addresses, if it shows any."""
    places = _information(root, _PLACES) or _information(root, ("title",))
    addresses = [address for address in places if "://" in address]
    return addresses if streams and addresses else places


def _same_file(playing: str, expected: str) -> bool:
    scheme, separator, _ = playing.partition("://")
    if separator and scheme.lower() != "file":
        return False  # A stream is not a file of that name.
    return any(
        name == expected or name.endswith((f"/{expected}", f"\\{expected}")) for name in (playing, unquote(playing))
    )


def _same_stream(playing: str, expected: str) -> bool:
    """Scheme, host and path are the same, and the query where one is expected; a name alone is the path's last part."""
    try:
        goal, address = urlsplit(expected), urlsplit(playing)
        same_host = _origin(goal) == _origin(address)
    except ValueError:
        return False
    if "://" not in playing:
        return unquote(playing) == unquote(goal.path.rpartition("/")[2]) or playing == expected
    same_path = unquote(goal.path) == unquote(address.path)
    return same_host and same_path and goal.query in {"", address.query}


def _origin(address: SplitResult) -> tuple[str, str | None, int | None]:
    """Raises ValueError if the port is not a number."""
    return address.scheme, address.hostname, address.port or _PORTS.get(address.scheme)


def _published(playing: str, expected: str) -> bool:
    if expected in playing:
        return True
    try:
        expected_url, address = urlparse(expected), urlparse(playing)
    except ValueError:
        return False
    if playing == expected_url.path.rsplit("/", 1)[-1]:
        return True
    return "://" in playing and expected_url.netloc == address.netloc and expected_url.path in address.path
