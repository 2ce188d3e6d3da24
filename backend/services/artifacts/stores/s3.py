"""S3 client: configuration, connection and errors. The only importer of botocore's session."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import botocore.session
from botocore.config import Config
from botocore.credentials import CredentialProvider, Credentials, ReadOnlyCredentials
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

from backend.config import Settings
from backend.domain.errors import Invalid, Unavailable
from backend.rotating_secrets import current

CONNECT_SECONDS = 5.0
SILENT_SECONDS = 15.0
ATTEMPTS = 4
"""Number of tries per request, with growing pauses: an unavailable store is given up after at most 80 s."""
_ABSENT = frozenset({"NoSuchKey", "404", "NotFound"})
_NO_BUCKET = "NoSuchBucket"
_REFUSED = frozenset({"AccessDenied", "403", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
_NO_ROOM = frozenset({"QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "507", "EntityTooLarge"})
_DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, kw_only=True)
class BucketConfig:
    """Location of a bucket and how to access it.

    Attributes:
        endpoint: address of the store; empty = Amazon S3.
        prefix: of every key; empty or ending with a slash.
        access_key: empty = the machine's own role, as Amazon's libraries find it.
        path_style: whether the bucket is the first part of the path, not of the host.
        keys: gives both keys as they are now, for each request; None: they stay.
    """

    bucket: str
    endpoint: str = ""
    region: str = _DEFAULT_REGION
    prefix: str = ""
    access_key: str = ""
    secret_key: str = ""
    path_style: bool = True
    keys: Callable[[], tuple[str, str]] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """From the settings.

        Raises:
            Invalid: the endpoint is not a valid address, or one of the two keys is missing.
        """
        access, secret = (
            key.get_secret_value() if key else "" for key in (settings.s3_access_key, settings.s3_secret_key)
        )
        if bool(access) != bool(secret):
            raise Invalid(
                "only one of the two keys is set",
                code="invalid_setting",
                path="DESKARENA_S3_ACCESS_KEY, DESKARENA_S3_SECRET_KEY",
            )
        endpoint = settings.s3_endpoint
        if endpoint and (urlsplit(endpoint).scheme not in {"http", "https"} or not urlsplit(endpoint).hostname):
            raise Invalid(
                f"{endpoint!r} is not an address",
                code="invalid_setting",
                path="DESKARENA_S3_ENDPOINT",
                hint="For example http://store:8333.",
            )
        access_now, secret_now = current(settings, "s3_access_key"), current(settings, "s3_secret_key")
        prefix = settings.s3_prefix.strip("/")
        return cls(
            bucket=settings.s3_bucket,
            endpoint=endpoint,
            region=settings.s3_region,
            prefix=f"{prefix}/" if prefix else "",
            access_key=access,
            secret_key=secret,
            path_style=bool(endpoint) if settings.s3_path_style is None else settings.s3_path_style,
            keys=(lambda: (access_now(), secret_now())) if access else None,
        )

    @property
    def name(self) -> str:
        """Name of the bucket for messages."""
        return f"{self.endpoint or 'Amazon S3'}/{self.bucket}"

    def location(self) -> dict[str, Any]:
        """Location constraint for creating the bucket; empty in the first region."""
        if self.region == _DEFAULT_REGION:
            return {}
        return {"CreateBucketConfiguration": {"LocationConstraint": self.region}}


def connect(config: BucketConfig) -> Any:
    """A client of the store; thread-safe. Connects at the first request."""
    session = botocore.session.Session()
    if config.access_key:
        keys = config.keys or (lambda: (config.access_key, config.secret_key))
        session.get_component("credential_provider").insert_before("env", _CurrentKeys(keys))
    return session.create_client(
        "s3",
        region_name=config.region,
        endpoint_url=config.endpoint or None,
        config=_config(path_style=config.path_style),
    )


class _CurrentKeys(CredentialProvider):  # type: ignore[misc] # botocore has no types
    """Gives the client credentials that ask for the keys at each request."""

    METHOD = CANONICAL_NAME = "deskarena"

    def __init__(self, keys: Callable[[], tuple[str, str]]) -> None:
        super().__init__()
        self._keys = keys

    def load(self) -> Credentials:
        return _CurrentCredentials(self._keys)


class _CurrentCredentials(Credentials):  # type: ignore[misc] # same
    def __init__(self, keys: Callable[[], tuple[str, str]]) -> None:
        super().__init__(*keys(), method=_CurrentKeys.METHOD)
        self._keys = keys

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        return ReadOnlyCredentials(*self._keys(), None)


def _config(*, path_style: bool) -> Config:
    return Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=SILENT_SECONDS,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=32,
        s3={"addressing_style": "path" if path_style else "virtual"},
        # Not every store supports newer checksums; we use the hash in the object's name.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


def code_of(error: ClientError) -> str:
    """The store's error code, such as `NoSuchKey`; the HTTP status if the response has no body."""
    return str(error.response.get("Error", {}).get("Code", ""))


def is_absent(error: ClientError) -> bool:
    """Whether the error means that the object does not exist."""
    return code_of(error) in _ABSENT


def lacks_bucket(error: ClientError) -> bool:
    """Whether the error means that the bucket does not exist."""
    return code_of(error) == _NO_BUCKET


def store_error(error: BotoCoreError | ClientError, config: BucketConfig) -> Unavailable:
    """Maps the error to ours, with what to do."""
    if isinstance(error, ClientError):
        return _store_failure(error, config)
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return Unavailable(
            f"no key for the artifact store {config.name}",
            code="store_access_denied",
            hint="Set DESKARENA_S3_ACCESS_KEY and DESKARENA_S3_SECRET_KEY, or give this machine a role.",
        )
    return Unavailable(
        f"the artifact store {config.name} does not answer: {error}",
        code="store_unavailable",
        hint="Check that it is running and that DESKARENA_S3_ENDPOINT is right.",
    )


def _store_failure(error: ClientError, config: BucketConfig) -> Unavailable:
    code = code_of(error)
    if code == _NO_BUCKET:
        return no_bucket(config, "does not exist")
    if code in _REFUSED:
        hint = "May the keys of DESKARENA_S3_ACCESS_KEY and DESKARENA_S3_SECRET_KEY read, write, delete and list there?"
        return Unavailable(
            f"the artifact store {config.name} refuses access: {error}", code="store_access_denied", hint=hint
        )
    if code in _NO_ROOM:
        return Unavailable(
            f"no room in the artifact store {config.name}: {error}", code="store_full", hint="Free some space there."
        )
    return Unavailable(
        f"the artifact store {config.name} failed: {error}",
        code="store_unavailable",
        hint="See the store's log.",
    )


def no_bucket(config: BucketConfig, problem: str) -> Unavailable:
    """The error for a missing bucket, with the reason."""
    return Unavailable(
        f"the bucket {config.bucket!r} of the artifact store {config.name} {problem}",
        code="bucket_not_found",
        hint="Create the bucket, or name another in DESKARENA_S3_BUCKET.",
    )
