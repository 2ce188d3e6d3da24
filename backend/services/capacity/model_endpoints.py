"""Model endpoints: vendors' addresses, and the operator's models.toml.

Endpoints and keys come only from the operator: environment, file, or folder of secrets. A run names an endpoint but
cannot define one.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from backend.domain.errors import Invalid, TaskSetupFailed
from backend.domain.machines.node_prices import NodePrice
from backend.domain.model.prices import Price
from backend.domain.model.validation_words import problem_words
from backend.services.capacity.task_secrets import TaskSecrets

_NAME = r"^[a-z][a-z0-9_.-]{0,99}$"
_MOST_BYTES = 2**20
_LONGEST_KEY = 2**16
_P = TypeVar("_P", Price, NodePrice)


class Endpoint(BaseModel):
    """A model endpoint as in models.toml, with its key.

    Attributes:
        api: registered name of its client.
        base_url: prefix of the API's paths; empty = the vendor's.
        key_env, key_secret: variable, or file in DATA/secrets, with the key; none = no key needed. `<key_env>_FILE`
            names a file with it.
        patience_seconds: maximum waiting time of a call before the attempt is lost.
        timeout_seconds: time limit of one request.
        at_once: maximum concurrent requests, over all attempts of a worker.
        requests_per_minute, tokens_per_minute: likewise; None = no limit.
        headers: additional headers; not for keys.
        cassette: file that a `recorded` endpoint replays.
        record: file to which every reply is appended, as a cassette.
        key: set by `Endpoints`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=_NAME)
    api: str = Field(pattern=_NAME)
    base_url: str = ""
    key_env: str = Field(default="", max_length=100)
    key_secret: str = Field(default="", max_length=100)
    patience_seconds: float = Field(default=900.0, ge=0, le=86400)
    timeout_seconds: float = Field(default=300.0, gt=0, le=3600)
    at_once: int = Field(default=16, ge=1, le=1000)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    headers: dict[str, str] = Field(default_factory=dict)
    cassette: Path | None = None
    record: Path | None = None
    prices: tuple[Price, ...] = ()
    key: SecretStr = Field(default=SecretStr(""), repr=False, exclude=True)

    @field_validator("base_url")
    @classmethod
    def plain_address(cls, value: str) -> str:
        """An address without credentials: addresses are shown."""
        parts = urlsplit(value)
        if value and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("expected http://HOST/PATH or https://HOST/PATH")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("no user, password, query or fragment belongs here; use key_env or key_secret")
        return value.rstrip("/")


class MissingKey(Invalid):
    """An endpoint's key is missing; the message says where to put it."""


BUILT_IN: Mapping[str, tuple[str, str, str]] = {
    "openai": ("openai_chat", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai_responses": ("openai_responses", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": ("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "gemini": ("gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL"),
}
"""Name -> API, variable of its key, variable of another address."""


def key_variables(file: Path) -> tuple[str, ...]:
    """Variables that endpoints read, for starting a worker with a clean environment.

    An invalid file adds none: the worker itself reports what is wrong with it.
    """
    variables = [name for _, key, base in BUILT_IN.values() for name in (key, base)]
    try:
        named = [endpoint.key_env for endpoint in Endpoints(file, TaskSecrets(file.parent), {}).all().values()]
    except Invalid:
        named = []
    names = {name for name in (*variables, *named) if name}
    return tuple(sorted(names | {f"{name}_FILE" for name in names}))


class Endpoints:
    """All endpoints of this installation, read again for each attempt, so that changes apply to the next one.

    Args:
        file: models.toml; may be missing.
        secrets: the folder of secrets.
        environ: the environment.
    """

    def __init__(self, file: Path, secrets: TaskSecrets, environ: Mapping[str, str]) -> None:
        self._file = file
        self._secrets = secrets
        self._environ = environ

    def all(self) -> dict[str, Endpoint]:
        """All endpoints by name, without keys.

        Raises:
            Invalid: the file is invalid; the message says where.
        """
        content = _file_content(self._file)
        _checked_prices(NodePrice, content, "node_prices", self._file)
        endpoints = {name: self._built_in(name) for name in BUILT_IN}
        prices = _checked_prices(Price, content, "prices", self._file)
        named = content.get("endpoints", {})
        if not isinstance(named, dict):
            raise Invalid(
                "expected a table [endpoints.NAME] for each endpoint",
                code="invalid_models_file",
                path=f"{self._file}: endpoints",
            )
        for name, options in named.items():
            endpoints[name] = _check(name, options, self._file)
        return {
            name: endpoint.model_copy(update={"prices": (*endpoint.prices, *prices)})
            for name, endpoint in endpoints.items()
        }

    def with_key(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with its key.

        Raises:
            MissingKey: it is missing, or its file cannot be used; the message says what to do.
        """
        if endpoint.key_secret:
            try:
                key = self._secrets(endpoint.key_secret)
            except TaskSetupFailed as error:
                message = f"the endpoint {endpoint.name!r} has no key: {error.message}"
                raise MissingKey(message, code="endpoint_key_missing", hint=error.hint) from None
        elif endpoint.key_env:
            key = self._environ.get(endpoint.key_env, "").strip() or self._key_in_file(endpoint)
            if not key:
                hint = f"Set {endpoint.key_env} where the worker is started (docs/models.md)."
                raise MissingKey(
                    f"the endpoint {endpoint.name!r} has no key: {endpoint.key_env} is not set",
                    code="endpoint_key_missing",
                    hint=hint,
                )
        else:
            key = ""
        if not key.isprintable() or not key.isascii():
            raise MissingKey(
                f"the key of the endpoint {endpoint.name!r} has characters that a header cannot carry",
                code="endpoint_key_invalid",
            )
        return endpoint.model_copy(update={"key": SecretStr(key)})

    def _key_in_file(self, endpoint: Endpoint) -> str:
        """Read for each attempt, so that a new key applies to the next one."""
        variable = f"{endpoint.key_env}_FILE"
        if not (path := self._environ.get(variable, "").strip()):
            return ""
        try:
            with Path(path).open(encoding="utf-8") as file:
                return file.read(_LONGEST_KEY).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise MissingKey(
                f"the endpoint {endpoint.name!r} has no key: the file of {variable} cannot be read",
                code="endpoint_key_missing",
                hint=f"Correct {variable}: {error}",
            ) from None

    def _built_in(self, name: str) -> Endpoint:
        api, key, base = BUILT_IN[name]
        address = self._environ.get(base, "").strip()
        try:
            return Endpoint(name=name, api=api, base_url=address, key_env=key)
        except ValidationError as error:
            raise Invalid(
                problem_words(error.errors(include_url=False)[0]), code="invalid_models_file", path=base
            ) from None


def node_prices(file: Path) -> tuple[NodePrice, ...]:
    """The operator's prices of nodes. Raises Invalid: the file is invalid; the message says where."""
    return _checked_prices(NodePrice, _file_content(file), "node_prices", file)


def _file_content(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Invalid(f"it cannot be read: {error.strerror}", code="invalid_models_file", path=str(file)) from error
    if len(data) > _MOST_BYTES:
        raise Invalid("it is larger than 1 MiB", code="invalid_models_file", path=str(file))
    try:
        content = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"not valid TOML: {error}", code="invalid_models_file", path=str(file)) from error
    if unknown := set(content) - {"endpoints", "prices", "node_prices"}:
        hint = "Known: [endpoints.NAME], [[prices]] and [[node_prices]]."
        raise Invalid(f"unknown: {', '.join(sorted(unknown))}", code="invalid_models_file", path=str(file), hint=hint)
    return content


def _check(name: str, options: Any, file: Path) -> Endpoint:
    where = f"{file}: endpoints.{name}"
    if not isinstance(options, dict) or {"name", "key"} & set(options):
        # A key in the file itself would be read, copied and shown with the rest.
        raise Invalid(
            "expected a table without `name` and `key`; see key_env and key_secret",
            code="invalid_models_file",
            path=where,
        )
    try:
        return Endpoint.model_validate({**options, "name": name})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Invalid(
            problem_words(first), code="invalid_models_file", path=".".join([where, *map(str, first["loc"])])
        ) from None


def _checked_prices(kind: type[_P], content: Mapping[str, Any], name: str, file: Path) -> tuple[_P, ...]:
    try:
        return tuple(kind.model_validate(item) for item in content.get(name, []))
    except (ValidationError, TypeError) as error:
        raise Invalid(f"{error}"[:500], code="invalid_models_file", path=f"{file}: {name}") from None
