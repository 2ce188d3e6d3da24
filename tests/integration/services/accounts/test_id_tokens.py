"""Id tokens against an issuer on loopback: what is refused, and how keys are replaced."""

import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from joserfc import jwk

from backend.domain.errors import Unavailable
from backend.services.accounts.id_tokens import (
    KEPT_SECONDS,
    REREAD_SECONDS,
    SKEW_SECONDS,
    IdTokenRefused,
    Issuers,
    checked_issuer,
    unverified_claims,
)
from backend.services.artifacts.egress_policy import EgressPolicy
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from tests.error_codes import raises_code
from tests.factories.issuers import FakeIssuer, issuing

AUDIENCE = "https://deskarena.example.org"
PRIVATE = GuardedWeb(EgressPolicy(private_hosts=("127.0.0.1",)))


@dataclass
class Time:
    """A monotonic clock that stands still."""

    seconds: float = 0.0
    issuers: Issuers = field(init=False)

    def __post_init__(self) -> None:
        self.issuers = Issuers(PRIVATE, plain=("127.0.0.1",), clock=lambda: self.seconds)


@pytest.fixture(scope="module")
def server() -> Iterator[FakeIssuer]:
    with issuing() as issuer:
        yield issuer


@pytest.fixture
def issuer(server: FakeIssuer) -> FakeIssuer:
    server.asked.clear()
    server.calls_itself = server.url
    return server


def verified(issuer: FakeIssuer, token: str, issuers: Issuers | None = None, **more: Any) -> Any:
    return (issuers or Time().issuers).verify(token, issuer=issuer.url, audience=AUDIENCE, **more)


def signed_with(header: Any, claims: Any, secret: bytes) -> str:
    """A token signed with a secret: here, with the issuer's public key, as if it were one."""
    parts = [urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    signature = hmac.digest(secret, b".".join(parts), "sha256")
    return b".".join([*parts, urlsafe_b64encode(signature).rstrip(b"=")]).decode()


class TestVerify:
    def test_accepts_what_the_issuer_signed_for_us(self, issuer: FakeIssuer) -> None:
        claims = verified(issuer, issuer.token(aud=[AUDIENCE, "other"]))
        assert claims["sub"] == "repo:acme/shop:ref:refs/heads/main"

    @pytest.mark.parametrize(
        "claims",
        [
            {"iss": "https://evil.example.org"},
            {"iss": None},
            {"aud": "https://other.example.org"},
            {"aud": ["https://other.example.org"]},
            {"aud": None},
            {"sub": None},
            {"exp": None},
            {"exp": "tomorrow"},
            {"exp": float("nan")},
            {"nonce": "another"},
            {"azp": "another"},
        ],
    )
    def test_refuses_a_claim_that_is_wrong_or_missing(self, issuer: FakeIssuer, claims: dict[str, Any]) -> None:
        with pytest.raises(IdTokenRefused):
            verified(issuer, issuer.token({"nonce": "ours", **claims}), nonce="ours", client_id=AUDIENCE)

    def test_needs_the_nonce(self, issuer: FakeIssuer) -> None:
        verified(issuer, issuer.token(nonce="ours"), nonce="ours")
        with pytest.raises(IdTokenRefused):
            verified(issuer, issuer.token(), nonce="ours")

    @pytest.mark.parametrize("claim", ["exp", "nbf", "iat"])
    def test_tolerates_a_minute_of_clock_skew(self, issuer: FakeIssuer, claim: str) -> None:
        skew = -SKEW_SECONDS if claim == "exp" else SKEW_SECONDS
        now = int(time.time())
        near, far = ({claim: now + skew * part // 6} for part in (5, 12))
        verified(issuer, issuer.token(near))
        with pytest.raises(IdTokenRefused):
            verified(issuer, issuer.token(far))

    def test_refuses_other_signatures(self, issuer: FakeIssuer) -> None:
        public = issuer.keys[-1].as_pem(private=False)
        body = unverified_claims(issuer.token())
        unsigned = signed_with({"alg": "none"}, body, b"").rpartition(".")[0] + "."
        forged = [
            issuer.token(key=jwk.RSAKey.generate_key(2048, {"kid": issuer.keys[-1].kid})),
            issuer.token(key=jwk.RSAKey.generate_key(2048), header={"kid": None}),
            signed_with({"alg": "HS256", "kid": issuer.keys[-1].kid}, body, public),
            unsigned,
            issuer.token()[:-4] + "AAAA",
            "rubbish",
            "a.b.c",
            "x" * 30_000,
        ]
        for token in forged:
            with pytest.raises(IdTokenRefused):
                verified(issuer, token)

    def test_a_token_without_key_id_may_be_any_keys(self, issuer: FakeIssuer) -> None:
        issuer.keys.append(jwk.RSAKey.generate_key(2048, {"kid": "second"}))
        assert verified(issuer, issuer.token(header={"kid": None}))


class TestKeys:
    def test_keys_are_cached_until_a_rotation(self, issuer: FakeIssuer) -> None:
        moment = Time()
        old = issuer.token()
        verified(issuer, old, moment.issuers)
        verified(issuer, old, moment.issuers)
        assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]
        issuer.rotate()
        with pytest.raises(IdTokenRefused):  # Whoever sends rubbish cannot make us ask all the time.
            verified(issuer, issuer.token(), moment.issuers)
        assert len(issuer.asked) == 2
        moment.seconds += REREAD_SECONDS + 1
        verified(issuer, issuer.token(), moment.issuers)
        assert len(issuer.asked) == 4
        with pytest.raises(IdTokenRefused):
            verified(issuer, old, moment.issuers)

    def test_a_withdrawn_key_counts_no_longer_than_an_hour(self, issuer: FakeIssuer) -> None:
        moment = Time()
        old = issuer.token()
        verified(issuer, old, moment.issuers)
        issuer.rotate()
        moment.seconds += KEPT_SECONDS + 1
        with pytest.raises(IdTokenRefused):
            verified(issuer, old, moment.issuers)

    def test_issuer_with_another_name_is_refused(self, issuer: FakeIssuer) -> None:
        issuer.calls_itself = "https://evil.example.org"
        with raises_code(Unavailable, "issuer_unavailable"):
            verified(issuer, issuer.token())

    def test_private_addresses_are_not_asked_unless_the_operator_names_them(self, issuer: FakeIssuer) -> None:
        with raises_code(Unavailable, "issuer_unavailable"):
            Issuers(GuardedWeb(), plain=("127.0.0.1",)).metadata(issuer.url)
        assert issuer.asked == []


@pytest.mark.parametrize(
    "address",
    ["http://issuer.example.org", "https://", "ftp://x", "https://a@b", "https://b/?x=1", "https://b/#x", "issuer"],
)
def test_an_issuer_has_an_address_with_tls(address: str) -> None:
    with pytest.raises(Exception, match="issuer"):
        checked_issuer(address)
    assert checked_issuer("https://issuer.example.org/realms/a") == "https://issuer.example.org/realms/a"
