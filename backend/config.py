"""All settings of the service, read once from the environment. Documented in docs/settings.md (tested)."""

import logging
import os
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from backend.addresses import DEFAULT_PORT, SHORTEST_TOKEN
from backend.domain.model.validation_words import problem_words
from backend.environment import PREFIX, RenamedVariable, check_renamed, is_foreign

log = logging.getLogger(__name__)
ORIGIN = r"^https?://(\*\.)?[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?$"
"""An origin, or all subdomains of a host, as in a content security policy."""


def default_data_dir() -> Path:
    """Default data folder: below XDG_DATA_HOME, or ~/.local/share."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "deskarena"


def variables_of(field_name: str, field: FieldInfo) -> list[str]:
    """Environment variables of a setting, the preferred one first."""
    alias = field.validation_alias
    return (
        [str(name) for name in alias.choices] if isinstance(alias, AliasChoices) else [f"{PREFIX}{field_name.upper()}"]
    )


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting may also be read from a file."""
    return "SecretStr" in str(field.annotation)


class SecretFiles(PydanticBaseSettingsSource):
    """Settings source for secrets in files: `<VARIABLE>_FILE` names the file, as is usual in containers."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Content of the file that is named for a secret field.

        Raises:
            OSError: The file cannot be read; the message has its name.
        """
        if not is_secret(field):
            return None, field_name, False
        names = variables_of(field_name, field)
        for name in names:
            if path := os.environ.get(f"{name}_FILE"):
                key = names[0] if field.validation_alias else field_name
                return Path(path).read_text(encoding="utf-8").strip(), key, False
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Values of all such files."""
        values = (self.get_field_value(field, name) for name, field in self.settings_cls.model_fields.items())
        return {key: value for value, key, _ in values if value is not None}


class Settings(BaseSettings):
    """Settings of API and workers. Variables are `DESKARENA_<NAME>`, except DATABASE_URL and REDIS_URL."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    database_url: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("DATABASE_URL", "DESKARENA_DATABASE_URL"),
        description="PostgreSQL, as postgresql+psycopg://user:password@host/name.",
    )
    redis_url: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("REDIS_URL", "DESKARENA_REDIS_URL"),
        description="Redis or Valkey, as redis://:password@host:port/0 or redis+socket:///path.",
    )
    data_dir: Path = Field(
        default_factory=default_data_dir, description="Data folder: artifacts, logs, embedded servers."
    )
    host: str = Field(
        default="127.0.0.1", description="Address to listen on; other than loopback needs accounts or a token."
    )
    port: int = Field(default=DEFAULT_PORT, ge=1, le=65535, description="Port the API listens on.")
    api_address: str = Field(
        default="", description="Address at which `container` agents reach the API (default: this machine)."
    )
    accounts: bool = Field(default=False, description="Whether people sign in with their own accounts.")
    token: SecretStr | None = Field(
        default=None,
        description="Bearer token of at least 16 characters that every request must carry, if set; "
        "with accounts, that of programs.",
    )
    rate_limit: int | None = Field(
        default=None,
        ge=0,
        description="Maximum requests to the API a minute for each person and program; 0: no limit.",
    )
    oidc_issuer: str = Field(
        default="", description="OpenID provider with which people sign in, such as https://id.example.org/realms/a."
    )
    oidc_client_id: str = Field(default="deskarena", description="Client id of this installation at the provider.")
    oidc_client_secret: SecretStr | None = Field(
        default=None, description="The client's secret at the provider (default: none, a public client with PKCE)."
    )
    oidc_name: str = Field(default="", max_length=60, description="Name of the provider on the sign-in page.")
    oidc_scopes: tuple[str, ...] = Field(
        default=("openid", "profile", "email"), description="Scopes that the provider is asked for (JSON list)."
    )
    oidc_first_sign_in: Literal["refuse", "link", "create"] = Field(
        default="refuse",
        description="Who signs in for the first time is refused, gets the account that has their verified e-mail "
        "address as its name (link), or such a new one (create).",
    )
    oidc_groups_claim: str = Field(default="groups", description="Claim with the groups of a person.")
    oidc_roles: dict[str, dict[str, Literal["viewer", "runner", "reviewer", "maintainer", "admin"]]] = Field(
        default={}, description='Roles in projects by group (JSON), such as `{"ml-team": {"default": "runner"}}`.'
    )
    oidc_admins: tuple[str, ...] = Field(
        default=(),
        description="Groups (JSON list) whose members administer it (default: as set at /people).",
    )
    metrics_token: SecretStr | None = Field(
        default=None, description="Additional bearer token for /metrics and /api/v1/signals only."
    )
    worker_metrics_host: str = Field(
        default="127.0.0.1",
        description="Address at which a worker serves its metrics; other than loopback needs the metrics token.",
    )
    worker_metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port at which a worker serves its metrics; 0 disables it."
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="Additional accepted Host names (JSON list), for a reverse proxy."
    )
    root_path: str = Field(
        default="",
        pattern=r"^(/[A-Za-z0-9._~-]+)*/?$",
        description="Path under which a reverse proxy serves this service, such as `/deskarena`.",
    )
    trusted_proxies: tuple[str, ...] = Field(
        default=(),
        description="Reverse proxies (JSON list of addresses and networks) whose X-Forwarded-Proto, -Host, -For count.",
    )
    public_url: str = Field(
        default="",
        pattern=r"^(https?://[^\s/]+(/[^\s]*)?)?$",
        description="Address of this service in webhooks and e-mail (default: its port on loopback).",
    )
    webhook_private_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts in private networks (JSON list) to which webhooks may be sent."
    )
    smtp_host: str = Field(default="", description="SMTP server for e-mail; empty disables e-mail.")
    smtp_port: int = Field(default=587, ge=1, le=65535, description="Its port.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="How the connection is encrypted: by STARTTLS, from its beginning, or not."
    )
    smtp_user: str = Field(default="", description="User at the SMTP server (default: no sign-in).")
    smtp_password: SecretStr | None = Field(default=None, description="That user's password.")
    smtp_sender: str = Field(
        default="deskarena@localhost",
        pattern=r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$",
        description="Address that e-mail comes from.",
    )
    embed_origins: tuple[Annotated[str, Field(pattern=ORIGIN)], ...] = Field(
        default=(), description="Sites whose pages may show public links in a frame (JSON list)."
    )
    slots: int | None = Field(
        default=None,
        ge=0,
        le=256,
        description="Maximum desktops in parallel of this machine's worker (default: computed).",
    )
    default_image: str = Field(default="", description="Machine image for runs that name none.")
    accelerator: Literal["auto", "kvm", "tcg"] = Field(
        default="auto",
        description="Execution of virtual machines: with KVM (kvm), emulated (tcg), or with KVM if a "
        "trial guest is clearly faster with it (auto).",
    )
    poll_seconds: float = Field(default=2.0, gt=0, description="Interval at which a worker polls for work.")
    heartbeat_seconds: float = Field(default=2.0, gt=0, description="Interval at which a worker renews its leases.")
    lease_seconds: float = Field(default=10.0, gt=0, description="Maximum age of a heartbeat before the lease is lost.")
    shutdown_grace_seconds: float = Field(
        default=0.0, ge=0, description="Seconds that running attempts may continue when a worker is stopped."
    )
    liveness_file: Path | None = Field(
        default=None, description="File that a worker touches each time it polls for work, for probes."
    )
    drain_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Seconds between failing its readiness probe and closing the listener when the API stops.",
    )
    reserved_slots: str = Field(
        default="0",
        pattern=r"^\s*\d{1,6}%?\s*$",
        description="Slots of each provider reserved for interactive episodes: a number, or a share such as 10%.",
    )
    live_fps: float = Field(default=5.0, gt=0, le=30, description="Frame rate of the live view while it is watched.")
    web_private_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts in private networks (JSON list) from which files may be downloaded, such as mirrors.",
    )
    egress_policy: Literal["none", "tasks", "any"] = Field(
        default="none",
        description="Network access of desktops: none, the hosts of their task, or all public hosts.",
    )
    egress_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts (JSON list) that every desktop may reach; `*.example.org` includes all subdomains.",
    )
    detectors: dict[str, str] = Field(
        default={},
        description="Element detectors for set-of-marks (JSON, name to address), such as OmniParser's server.",
    )
    models_file: Path | None = Field(
        default=None,
        description="File with model endpoints, prices of models and nodes (default: models.toml in the data folder).",
    )
    qemu_warm_vms: int = Field(
        default=2, ge=0, description="Maximum number of virtual machines kept ready for the slots' next attempts."
    )
    qemu_memory_limit_mib: int = Field(
        default=0, ge=0, description="Maximum memory of all virtual machines together, in MiB; 0 = the free memory."
    )
    health_clock_seconds: float = Field(
        default=2.0, gt=0, description="Maximum clock skew; desktops beyond it are discarded."
    )
    health_disk_mib: int = Field(default=100, ge=0, description="Minimum free space of a desktop on each disk, in MiB.")
    health_memory_mib: int = Field(default=100, ge=0, description="Minimum free memory of a desktop, in MiB.")
    health_licence_days: float = Field(
        default=1.0, ge=0, description="Minimum number of days for which a desktop's Windows licence is still valid."
    )
    s3_bucket: str = Field(default="", description="Bucket for artifacts (default: the data folder).")
    s3_endpoint: str = Field(default="", description="Address of the S3-compatible store (default: Amazon S3).")
    s3_region: str = Field(default="us-east-1", description="Region of the bucket; self-hosted stores ignore it.")
    s3_access_key: SecretStr | None = Field(default=None, description="Access key of the store.")
    s3_secret_key: SecretStr | None = Field(default=None, description="Secret that belongs to the access key.")
    s3_prefix: str = Field(default="", description="Prefix of all object names.")
    s3_path_style: bool | None = Field(
        default=None,
        description="Whether the bucket name is part of the path (default: only with a custom endpoint).",
    )
    kubeconfig: str = Field(
        default="",
        validation_alias=AliasChoices("KUBECONFIG", "DESKARENA_KUBECONFIG"),
        description="Kubeconfig file; empty: the cluster in which the worker runs, if any.",
    )
    k8s_pod_image: str = Field(
        default="", description="Container image of virtual machine pods (vm_images/pod); empty: no pods."
    )
    k8s_image_volume: str = Field(
        default="claim:deskarena-images",
        description="Volume of machine images: claim:NAME ({node} in it gives each node its own), "
        "clone:CLAIM:SIZE[:CLASS], or image:REFERENCE for an image volume.",
    )
    k8s_template_volume: str = Field(
        default="empty:16Gi",
        description="Volume of templates: empty:SIZE, memory:SIZE, ephemeral:SIZE[:CLASS] or claim:NAME "
        "({node} in it gives each node its own).",
    )
    k8s_scratch_size: str = Field(default="8Gi", description="Scratch space of a pod's machines.")
    k8s_kvm_resource: str = Field(
        default="devices.kubevirt.io/kvm",
        description="Resource name under which a device plugin offers /dev/kvm; empty: machines are emulated.",
    )
    k8s_namespace: str = Field(default="", description="Namespace of the pods; empty: the worker's own, or `default`.")
    k8s_instance_label: str = Field(
        default="deskarena",
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$",
        description="Value of the pods' instance label; must be unique per installation in a namespace.",
    )
    k8s_nodes: str = Field(default="", description="Label selector of usable nodes; needs the right to read nodes.")
    k8s_slots: int = Field(
        default=0, ge=0, le=1000, description="Number of slots without a node, if nodes are not read."
    )
    k8s_max_desktops_per_worker: int = Field(
        default=20, ge=1, le=500, description="Maximum desktops in pods per worker."
    )
    k8s_max_attempts_per_pod: int = Field(
        default=50, ge=1, description="Number of attempts after which a slot's pod is replaced."
    )
    k8s_start_seconds: float = Field(
        default=300.0, gt=0, description="Maximum seconds until a pod is ready; then its slot is released."
    )
    k8s_idle_seconds: float = Field(
        default=900.0, ge=30, description="Seconds that an idle pod is kept after its last use or its worker's end."
    )
    k8s_warm_pods_per_node: int = Field(
        default=0,
        ge=0,
        le=100,
        description="Number of unused pods kept ready on each node; the same for all workers of a cluster.",
    )
    k8s_tolerations: tuple[dict[str, Any], ...] = Field(
        default=(), description="Tolerations of the pods (JSON list), as in their spec."
    )
    k8s_labels: dict[str, str] = Field(default={}, description="Additional labels of the pods (JSON).")
    k8s_pull_secrets: tuple[str, ...] = Field(
        default=(), description="Image pull secrets of the pods (JSON list of names)."
    )
    development: bool = Field(default=False, description="Serves the page of all components at /components.")
    trace_url: str = Field(
        default="",
        pattern=r"^(https?://[^\s/]+(/[^\s]*)?\{trace_id\}[^\s]*)?$",
        description="Address of a trace in the program that shows traces, with {trace_id}.",
    )
    log_level: str = Field(default="INFO", description="Log level of API and workers.")
    log_format: Literal["text", "json"] = Field(
        default="text", description="Logs of API and workers as text, or as one JSON object a line."
    )

    @field_validator("token", "metrics_token")
    @classmethod
    def _long_enough(cls, token: SecretStr | None) -> SecretStr | None:
        """Refuses what can be guessed; an empty one counts as none."""
        if token is not None and 0 < len(token.get_secret_value()) < SHORTEST_TOKEN:
            raise ValueError(f"expected at least {SHORTEST_TOKEN} characters; `openssl rand -hex 16` makes some")
        return token if token is not None and token.get_secret_value() else None

    @property
    def models_path(self) -> Path:
        """The file with model endpoints and prices; may be missing."""
        return self.models_file or self.data_dir / "models.toml"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - same
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Variables override the files named beside them."""
        return init_settings, env_settings, SecretFiles(settings_cls)


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The settings of this process, read on first use. Logs unknown variables.

    Raises:
        RenamedVariable: A variable is set under its name in an earlier release.
    """
    check_renamed(os.environ)
    for warning in unknown_variables(os.environ):
        log.warning("%s", warning)
    return Settings()


def settings_or_exit() -> Settings:
    """The settings at a program's start; exits with a short message if a variable was renamed or has a wrong value."""
    try:
        return get_settings()
    except RenamedVariable as error:
        sys.exit(str(error))
    except ValidationError as error:  # Its own text has the values, which may be secrets.
        names = (
            f"{PREFIX}{'.'.join(map(str, problem['loc'])).upper()}: {problem_words(problem)}"
            for problem in error.errors()
        )
        sys.exit("; ".join(names))


def unknown_variables(names: Iterable[str]) -> list[str]:
    """A warning for each unknown DESKARENA_ variable, with the setting that was probably meant."""
    settings = known_variables()
    unknown = sorted(name for name in names if name not in settings and not is_foreign(name))
    return [f"{name} is not a setting.{_suggestion(name, settings)}" for name in unknown]


def known_variables() -> frozenset[str]:
    """All variables of settings."""
    fields = Settings.model_fields.items()
    files = {f"{name}_FILE" for key, field in fields if is_secret(field) for name in variables_of(key, field)}
    return frozenset(files.union(*(variables_of(key, field) for key, field in fields)))


def _suggestion(name: str, settings: Iterable[str]) -> str:
    near = get_close_matches(name, settings, n=1)
    return f" Did you mean {near[0]}?" if near else " docs/settings.md lists them."
