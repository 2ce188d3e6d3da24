"""Compares addresses of web pages: our way, and that of both suites."""

import re
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*://")
_PORTS = {"http": 80, "https": 443}
LONGEST = 100_000
_ESCAPE = re.compile("%([0-9a-fA-F]{2})")
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def normal(url: str) -> str:
    """The normalised address, which is equal for two addresses of the same page.

    The default scheme is http. Scheme and host are in lower case; `www.`, a leading dot (as in cookies), the dot of the
    root, user info, default ports and a lone `/` are dropped. The public suffix counts: amazon.de is not amazon.com.
    Hosts in Punycode are decoded, and what is percent-encoded is so in one form (RFC 3986, 6.2.2).
    """
    parts = _parts(url)
    host = ".".join(map(_label, (parts.hostname or "").strip(".").removeprefix("www.").split(".")))
    port = _port(parts)
    if port is not None and port != _PORTS.get(parts.scheme):
        host = parts.netloc.lower() if port < 0 else f"{host}:{port}"
    path = "" if parts.path == "/" else parts.path
    return urlunsplit((parts.scheme, host, _encode(path), _encode(parts.query), _encode(parts.fragment)))


def _label(label: str) -> str:
    """A part of a host's name, in letters that people read."""
    with suppress(UnicodeError, OverflowError):
        return label.removeprefix("xn--").encode("ascii").decode("punycode") if label.startswith("xn--") else label
    return label


def _encode(text: str) -> str:
    """Percent-encodes characters that need it, with capital hexadecimal digits."""
    return quote(_ESCAPE.sub(_decode_unreserved, text), safe=_PRINTABLE, errors="surrogatepass")


def _decode_unreserved(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter.isascii() and (letter.isalnum() or letter in "-._~") else match[0].upper()


def same(first: str, second: str) -> bool:
    """Whether both refer to the same page."""
    return normal(first) == normal(second)


def same_osworld(first: str, second: str) -> bool:
    """As OSWorld's `compare_urls`: the public suffix is dropped, so that github.io equals github.com."""
    return _normal_osworld(first) == _normal_osworld(second)


def same_waa(first: str, second: str) -> bool:
    """As WindowsAgentArena's `compare_urls`: every `www.` is dropped, and an address without a scheme has no host."""
    return _normal_waa(first) == _normal_waa(second)


def _parts(url: str) -> SplitResult:
    text = url[:LONGEST].strip()
    try:
        return urlsplit(text if _SCHEME.match(text) else f"http://{text}")
    except ValueError:  # A bracket in the host that does not begin an IPv6 address.
        return SplitResult("invalid", "", text, "", "")


def _port(parts: SplitResult) -> int | None:
    """Its port, None if it names none, -1 if it is not a number (`about:blank`)."""
    try:
        return parts.port
    except ValueError:
        return -1


def _normal_osworld(url: str) -> str:
    parts = _parts(url)
    host = _suffixes()(parts.netloc.lower())
    subdomain = "" if host.subdomain == "www" else host.subdomain
    host_name = str(f"{subdomain}.{host.domain}" if subdomain else host.domain)
    return urlunsplit((parts.scheme, host_name, "" if parts.path == "/" else parts.path, parts.query, parts.fragment))


def _normal_waa(url: str) -> str:
    parts = urlsplit(url[:LONGEST])
    path = "" if parts.path == "/" else parts.path
    host_name = parts.netloc.lower().replace("www.", "")
    return urlunsplit((parts.scheme or "http", host_name, path, parts.query, parts.fragment))


@cache
def _suffixes() -> Any:
    """The list of public suffixes that comes with the library: evaluations never use the network."""
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
