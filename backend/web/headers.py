"""Headers of every response."""

from collections.abc import Mapping, Sequence

from backend.addresses import EMBED_PATH

# Plotly makes two <style> elements: an empty one that it fills through the CSSOM (the first hash is that of the empty
# text), and one with the constant rules of its map library (the second; it changes with plotly's version, and a browser
# test says so). Nothing else inline is allowed, and nothing from elsewhere.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
MAP_STYLE = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    f"style-src 'self' {EMPTY_STYLE} {MAP_STYLE}",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
)
CSP = "; ".join([*_POLICY, "frame-ancestors 'none'"])
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def headers_of(path: str, embed_origins: Sequence[str] = ()) -> Mapping[str, str]:
    """Headers of a response: only pages below `EMBED_PATH` may stand in a frame, of pages of these origins."""
    if not embed_origins or not path.startswith(EMBED_PATH):
        return HEADERS
    policy = "; ".join([*_POLICY, f"frame-ancestors {' '.join(embed_origins)}"])
    # X-Frame-Options cannot name other sites; browsers that know frame-ancestors ignore it.
    others = {name: value for name, value in HEADERS.items() if name != "X-Frame-Options"}
    return {**others, "Content-Security-Policy": policy}
