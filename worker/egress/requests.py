"""Parser of a desktop program's requests to its proxy, which are not trusted."""

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

MOST_HEAD = 65536
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "upgrade"}
)
_PORTS = {"http": 80, "https": 443}


class BadRequest(Exception):
    """Not a valid proxy request. The message is for the program that sent it."""


@dataclass(frozen=True)
class RequestHead:
    """Head of one request.

    Attributes:
        url: the whole address; empty for CONNECT.
        host, port: destination; the name in lower case without a final dot.
        headers: names and values as received.
    """

    method: str
    url: str
    host: str
    port: int
    headers: tuple[tuple[str, str], ...]

    def length(self) -> int:
        """Length of the body in bytes."""
        lengths = [value for name, value in self.headers if name.lower() == "content-length"]
        if any(name.lower() == "transfer-encoding" for name, _ in self.headers):
            raise BadRequest("chunked bodies are not supported: send a Content-Length")
        if len(set(lengths)) > 1 or not all(value.isascii() and value.isdigit() for value in lengths):
            raise BadRequest("the Content-Length is not valid")
        return int(lengths[0]) if lengths else 0

    def forwarded(self, *, whole: bool, extra: str = "") -> bytes:
        """forwarded: Head for the server, or with the `whole` address for a further proxy.

        The connection ends with the response.
        """
        parts = urlsplit(self.url)
        path = self.url if whole else (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = [(name, value) for name, value in self.headers if name.lower() not in {*_HOP_BY_HOP, "host"}]
        netloc = parts.netloc if parts.port else self.host
        lines = [f"{self.method} {path} HTTP/1.1", f"Host: {netloc}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers]
        return ("\r\n".join(lines) + f"\r\n{extra}\r\n").encode("latin-1")


def read_request(head: bytes, *, within: str = "") -> RequestHead:
    """Parses a request's head, including the empty line at its end.

    Args:
        head: as received.
        within: the mocked server, `https://shop.example:443`; empty = a proxy request.

    Raises:
        BadRequest: It is not a valid request, or not one for a proxy.
    """
    first, *header_lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    if any(letter < " " and letter != "\t" for line in (first, *header_lines) for letter in line):
        raise BadRequest("the request contains control characters")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[0].isalpha():  # noqa: PLR2004
        raise BadRequest("not an HTTP/1 request")
    headers = tuple(_header(line) for line in header_lines)
    method, target = words[0].upper(), words[1]
    if within:
        if not target.startswith("/") or method == "CONNECT":
            raise BadRequest("not a request to a server")
        target = within + target
    url = "" if method == "CONNECT" else target
    parts = _parts(f"https://{target}" if method == "CONNECT" else target)
    port = parts.port or _PORTS[parts.scheme]
    return RequestHead(method, url, (parts.hostname or "").rstrip(".").lower(), port, headers)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequest("invalid header")
    return name, value.strip()


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadRequest("invalid address") from None
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc or port == 0:
        raise BadRequest("an absolute http address without a user name is required")
    return parts


def same(url: str) -> tuple[str, str, str]:
    """Normal form of an address: host, path and query, without the scheme."""
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
