"""Headers of every response."""

from collections.abc import Mapping

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
    "frame-ancestors 'none'",
)
CSP = "; ".join(_POLICY)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
