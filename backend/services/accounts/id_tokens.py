"""Id tokens of OpenID providers: that an issuer has signed one, for whom, and until when.

OpenID Connect Core 1.0, section 3.1.3.7, and Discovery 1.0. Keys are those that the issuer's own metadata name, read
through the guarded client, and again when a token names one that is not among them, as after a rotation.
"""

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from authlib.oidc.core import CodeIDToken
from joserfc import jwk, jws, jwt
from joserfc.errors import JoseError

from backend.domain.errors import DeskarenaError, Invalid, NotAllowed, Unavailable
from backend.domain.ports.web import Web
from backend.services.lru_cache import LruCache

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")
"""Signatures with a public key. Never `none`, and no shared keys, which a public key could be taken for."""
SKEW_SECONDS = 60
"""How far an issuer's clock may be beside ours."""
KEPT_SECONDS = 3600.0
REREAD_SECONDS = 30.0
"""Metadata and keys are read again after the first; at an unknown key, at most at this interval."""
MOST_ISSUERS = 200
MOST_BYTES = 2**20
LONGEST_TOKEN = 20_000
_TIMEOUT = 5.0
_KEY_TYPES = {"RSA", "EC", "OKP"}
_WELL_KNOWN = "/.well-known/openid-configuration"


class IdTokenRefused(NotAllowed):
    """An id token that proves nothing here (403)."""

    code = "id_token_refused"


@dataclass(frozen=True)
class Issuer:
    """An issuer's metadata and keys, with the time when they were read by the monotonic clock."""

    metadata: Mapping[str, Any]
    keys: jwk.KeySet
    read_at: float


def checked_issuer(address: str, *, plain: Collection[str] = ()) -> str:
    """An issuer's address.

    Args:
        address: as given.
        plain: hosts that need no TLS.

    Raises:
        Invalid: it is not an address with TLS and without query.
    """
    parts = urlsplit(address)
    encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in plain)
    if not encrypted or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise Invalid("expected an address such as https://issuer.example.org", code="invalid_issuer", path="issuer")
    return address


def unverified_claims(token: str) -> Mapping[str, Any]:
    """The claims of an unverified token. Use them only to choose how to verify it. Raises IdTokenRefused."""
    try:
        claims = json.loads(jws.extract_compact(token[: LONGEST_TOKEN + 1].encode()).payload)
    except (JoseError, ValueError) as error:
        raise IdTokenRefused("this is not an id token") from error
    if not isinstance(claims, dict) or len(token) > LONGEST_TOKEN:
        raise IdTokenRefused("this is not an id token")
    return claims


class Issuers:
    """Metadata and keys of issuers. Thread-safe."""

    def __init__(
        self,
        web: Web,
        *,
        plain: Collection[str] = (),
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Args: web: reads them; plain: hosts that need no TLS; now: seconds since 1970; clock: a monotonic one."""
        self._web = web
        self._plain = frozenset(plain)
        self._now = now
        self._clock = clock
        self._known: LruCache[str, Issuer] = LruCache(MOST_ISSUERS)
        self._reading = Lock()

    def metadata(self, issuer: str) -> Mapping[str, Any]:
        """The issuer's metadata. Raises Unavailable if it does not answer, Invalid for its address."""
        return self._read(issuer, KEPT_SECONDS).metadata

    def verify(  # noqa: PLR0913 - each a condition
        self,
        token: str,
        *,
        issuer: str,
        audience: str,
        nonce: str | None = None,
        client_id: str | None = None,
        access_token: str | None = None,
    ) -> Mapping[str, Any]:
        """The claims of a token.

        Args:
            token: in compact form.
            issuer: who must have signed it.
            audience: for whom it must be.
            nonce: that must be in it.
            client_id: that it must be for, if it names an authorized party.
            access_token: to which its `at_hash` must belong, if it has one.

        Raises:
            IdTokenRefused: it is not signed by the issuer, for somebody else, not in force, or has another nonce.
            Unavailable: the issuer does not answer.
        """
        if len(token) > LONGEST_TOKEN:
            raise IdTokenRefused("this is not an id token")
        provider = self._read(issuer, KEPT_SECONDS)
        try:
            verified = _decode_token(token, provider.keys)
        except JoseError as first:
            # The key may be newer than ours. Whoever sends rubbish makes us ask once in a while only.
            again = self._read(issuer, REREAD_SECONDS)
            if again is provider:
                raise _refusal(first) from first
            try:
                verified = _decode_token(token, again.keys)
            except JoseError as second:
                raise _refusal(second) from second
        options: dict[str, Any] = {
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": audience},
            "sub": {"essential": True},
            "exp": {"essential": True},
        }
        conditions = {"nonce": nonce, "client_id": client_id, "access_token": access_token}
        claims = CodeIDToken(verified.claims, verified.header, options, conditions)
        try:
            claims.validate(now=int(self._now()), leeway=SKEW_SECONDS)
        except (JoseError, ValueError, TypeError) as error:
            raise _refusal(error) from error
        return dict(claims)

    def _read(self, issuer: str, oldest: float) -> Issuer:
        """The issuer as it was at most `oldest` seconds ago; older if it has just been read, or does not answer."""
        known = self._known.get(issuer)
        if known is not None and self._clock() - known.read_at < oldest:
            return known
        with self._reading:
            known = self._known.get(issuer)
            if known is not None and self._clock() - known.read_at < oldest:
                return known
            return self._known.put(issuer, self._fetch_issuer(issuer))

    def _fetch_issuer(self, issuer: str) -> Issuer:
        checked_issuer(issuer, plain=self._plain)
        metadata = self._json(issuer.rstrip("/") + _WELL_KNOWN)
        if metadata.get("issuer") != issuer:
            raise Unavailable(f"{issuer} calls itself {str(metadata.get('issuer'))[:200]!r}", code="issuer_unavailable")
        address = str(metadata.get("jwks_uri", ""))
        checked_issuer(address.partition("?")[0], plain=self._plain)
        keys = self._json(address).get("keys")
        public = [key for key in keys if _is_for_signatures(key)] if isinstance(keys, list) else []
        try:
            return Issuer(metadata, jwk.KeySet.import_key_set({"keys": public}), self._clock())
        except (JoseError, ValueError, TypeError) as error:
            raise Unavailable(f"{issuer} has no keys that we know", code="issuer_unavailable") from error

    def _json(self, address: str) -> Mapping[str, Any]:
        try:
            reply = self._web.send("GET", address, max_bytes=MOST_BYTES, timeout=_TIMEOUT)
            value = json.loads(reply.body) if reply.status == 200 else None  # noqa: PLR2004 - HTTP
        except (DeskarenaError, ValueError) as error:
            raise Unavailable(f"{address} does not answer", code="issuer_unavailable", hint=str(error)[:300]) from error
        if not isinstance(value, dict):
            raise Unavailable(f"{address} does not answer with JSON", code="issuer_unavailable")
        return value


def _is_for_signatures(key: Any) -> bool:
    return isinstance(key, dict) and key.get("kty") in _KEY_TYPES and key.get("use", "sig") == "sig"


def _decode_token(token: str, keys: jwk.KeySet) -> jwt.Token:
    """A token whose signature is that of one of the keys. Raises JoseError."""
    if "kid" in jws.extract_compact(token.encode()).headers():
        return jwt.decode(token, keys, algorithms=ALGORITHMS)
    problem: JoseError | None = None
    for key in keys:  # The token names none.
        try:
            return jwt.decode(token, key, algorithms=ALGORITHMS)
        except JoseError as error:
            problem = error
    raise problem or JoseError("there are no keys")


def _refusal(error: Exception) -> IdTokenRefused:
    return IdTokenRefused(f"the id token is not valid: {str(error)[:200]}")
