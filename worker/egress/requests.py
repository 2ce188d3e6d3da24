"""What a program of a desktop asks its proxy for, read without trust."""

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

MOST_HEAD = 65536
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "upgrade"}
)
_PORTS = {"http": 80, "https": 443}


class BadRequest(Exception):
    """It is no request to a proxy. The message is for the program that sent it."""


@dataclass(frozen=True)
class RequestHead:
    """One request's head.

    Attributes:
        url: the whole address; empty for CONNECT.
        host, port: where it leads; the name in small letters without a final dot.
        headers: name and value as they came.
    """

    method: str
    url: str
    host: str
    port: int
    headers: tuple[tuple[str, str], ...]

    def length(self) -> int:
        """Bytes of the body that follows."""
        lengths = [value for name, value in self.headers if name.lower() == "content-length"]
        if any(name.lower() == "transfer-encoding" for name, _ in self.headers):
            raise BadRequest("a body in pieces is not passed on: send its length")
        if len(set(lengths)) > 1 or not all(value.isascii() and value.isdigit() for value in lengths):
            raise BadRequest("its length is not clear")
        return int(lengths[0]) if lengths else 0

    def forwarded(self, *, whole: bool, extra: str = "") -> bytes:
        """The head as it goes to the server, or `whole` to a further proxy. The connection ends with the answer."""
        parts = urlsplit(self.url)
        path = self.url if whole else (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = [(name, value) for name, value in self.headers if name.lower() not in {*_HOP_BY_HOP, "host"}]
        netloc = parts.netloc if parts.port else self.host
        lines = [f"{self.method} {path} HTTP/1.1", f"Host: {netloc}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers]
        return ("\r\n".join(lines) + f"\r\n{extra}\r\n").encode("latin-1")


def read_request(head: bytes, *, within: str = "") -> RequestHead:
    """The request whose head this is, with the empty line at its end.

    Args:
        head: as it came.
        within: the server that was asked, `https://shop.example:443`; empty = a proxy was asked.

    Raises:
        BadRequest: it is none, or none to a proxy.
    """
    first, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    if any(letter < " " and letter != "\t" for line in (first, *rest) for letter in line):
        raise BadRequest("it has control characters")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[0].isalpha():  # noqa: PLR2004
        raise BadRequest("it is no request of HTTP/1")
    headers = tuple(_header(line) for line in rest)
    method, target = words[0].upper(), words[1]
    if within:
        if not target.startswith("/") or method == "CONNECT":
            raise BadRequest("it is no request to a server")
        target = within + target
    url = "" if method == "CONNECT" else target
    parts = _parts(f"https://{target}" if method == "CONNECT" else target)
    port = parts.port or _PORTS[parts.scheme]
    return RequestHead(method, url, (parts.hostname or "").rstrip(".").lower(), port, headers)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequest("a header is broken")
    return name, value.strip()


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadRequest("its address is broken") from None
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc or port == 0:
        raise BadRequest("it needs a whole http address, without a user name")
    return parts


def same(url: str) -> tuple[str, str, str]:
    """What makes two spellings of an address one: host, path and query, whichever of both schemes."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").lower()
    except ValueError:
        return "", url, ""
    return host, unquote(parts.path) or "/", parts.query


def allows(pattern: str, host: str, port: int) -> bool:
    """Whether an entry of an allow-list covers a host and port (see `EgressRules.hosts`)."""
    name, colon, port_text = pattern.lower().rpartition(":")
    if not colon:
        name, port_text = pattern.lower(), ""
    if port not in ({int(port_text)} if port_text.isdigit() else set(_PORTS.values())):
        return False
    return name in {"*", host} or (name.startswith("*.") and host.endswith(name[1:]))
