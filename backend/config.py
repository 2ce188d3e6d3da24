"""Every setting of the service, read once from the environment. Documented in docs/settings.md (a test holds it)."""

import logging
import os
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from backend.environment import PREFIX, RenamedVariable, check_renamed, is_foreign

log = logging.getLogger(__name__)


def default_data_dir() -> Path:
    """The data folder where none is named: under XDG_DATA_HOME, as other programs do."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "deskarena"


def variables_of(field_name: str, field: FieldInfo) -> list[str]:
    """The environment variables that a setting is read from, the preferred one first."""
    alias = field.validation_alias
    return (
        [str(name) for name in alias.choices] if isinstance(alias, AliasChoices) else [f"{PREFIX}{field_name.upper()}"]
    )


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting may also be read from a file."""
    return "SecretStr" in str(field.annotation)


class SecretFiles(PydanticBaseSettingsSource):
    """Secrets from files: `<VARIABLE>_FILE` names the file, as containers are given them."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The text of the file that is named for a field, if it is a secret.

        Raises:
            OSError: the file cannot be read; its name is told.
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
        """What all files say."""
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
    host: str = Field(default="127.0.0.1", description="Listening address; anything but loopback needs a token.")
    port: int = Field(default=8000, ge=1, le=65535, description="Port the API listens on.")
    api_address: str = Field(
        default="", description="Address of the API as workers reach it, for `container` agents; else here."
    )
    token: SecretStr | None = Field(default=None, description="Bearer token that every request must carry, if set.")
    metrics_token: SecretStr | None = Field(
        default=None, description="Further bearer token that opens /metrics and /api/v1/signals and nothing else."
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="Further Host names (JSON list) that requests may name, for a reverse proxy."
    )
    slots: int | None = Field(
        default=None, ge=0, le=256, description="Desktops that this machine's worker runs at once; unset: counted."
    )
    default_image: str = Field(default="", description="Machine image that is taken where a run names none.")
    accelerator: Literal["auto", "kvm", "tcg"] = Field(
        default="auto",
        description="How virtual machines run: with KVM (kvm), emulated (tcg), or with KVM where a trial guest is "
        "clearly faster with it (auto).",
    )
    poll_seconds: float = Field(default=2.0, gt=0, description="How often a worker looks for work on its own.")
    heartbeat_seconds: float = Field(default=2.0, gt=0, description="How often a worker renews its leases.")
    lease_seconds: float = Field(default=10.0, gt=0, description="Age of a heartbeat after which a lease is lost.")
    shutdown_grace_seconds: float = Field(
        default=0.0, ge=0, description="Seconds that attempts under way may go on when a worker is told to end."
    )
    liveness_file: Path | None = Field(
        default=None, description="File that a worker touches each time it looks for work, for probes."
    )
    drain_seconds: float = Field(
        default=0.0, ge=0, description="Seconds that the API sends requests elsewhere before it stops listening."
    )
    reserved_slots: str = Field(
        default="0",
        pattern=r"^\s*\d{1,6}%?\s*$",
        description="Slots of each provider kept free for interactive episodes: a number, or a share as 10%.",
    )
    live_fps: float = Field(default=5.0, gt=0, le=30, description="Frame rate of the live view while somebody watches.")
    web_private_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts (JSON list) in private networks that may be asked for files: mirrors."
    )
    egress_policy: Literal["none", "tasks", "any"] = Field(
        default="none",
        description="What desktops reach of the network: nothing, their task's hosts, or all that is public.",
    )
    egress_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts (JSON list) that every desktop may reach; `*.example.org` names all below one."
    )
    detectors: dict[str, str] = Field(
        default={}, description="Element detectors (JSON, name to address) for set-of-marks, as OmniParser's server."
    )
    models_file: Path | None = Field(
        default=None,
        description="File with further model endpoints and prices; default: models.toml of the data folder.",
    )
    qemu_warm_vms: int = Field(
        default=2, ge=0, description="Virtual machines that wait ready for their slots' next attempts, at most."
    )
    qemu_memory_limit_mib: int = Field(
        default=0, ge=0, description="Memory that virtual machines may take together, in MiB; 0 = what is free."
    )
    health_clock_seconds: float = Field(
        default=2.0, gt=0, description="How far a desktop's clock may be beside ours before it is thrown away."
    )
    health_disk_mib: int = Field(default=100, ge=0, description="Room that a desktop must have on each disk, in MiB.")
    health_memory_mib: int = Field(default=100, ge=0, description="Memory that a desktop must have left, in MiB.")
    health_licence_days: float = Field(
        default=1.0, ge=0, description="Days for which a desktop's Windows licence must still be good."
    )
    s3_bucket: str = Field(default="", description="Bucket that artifacts are kept in; unset: the data folder.")
    s3_endpoint: str = Field(default="", description="Address of the S3-compatible store; unset: Amazon's.")
    s3_region: str = Field(default="us-east-1", description="Region of the bucket; stores of one's own ignore it.")
    s3_access_key: SecretStr | None = Field(default=None, description="Access key of the store.")
    s3_secret_key: SecretStr | None = Field(default=None, description="Secret that belongs to the access key.")
    s3_prefix: str = Field(default="", description="What the names of all our objects begin with.")
    s3_path_style: bool | None = Field(
        default=None, description="Whether the bucket is part of the path; unset: where an endpoint is named."
    )
    kubeconfig: str = Field(
        default="",
        validation_alias=AliasChoices("KUBECONFIG", "DESKARENA_KUBECONFIG"),
        description="File that leads to a Kubernetes cluster; empty: the one that the worker runs in, if any.",
    )
    k8s_pod_image: str = Field(
        default="", description="Container image of the pods of virtual machines (vm_images/pod); empty: none are made."
    )
    k8s_image_volume: str = Field(
        default="claim:deskarena-images",
        description="Volume of machine images: claim:NAME (with {node}: each node's own), clone:CLAIM:SIZE[:CLASS], or "
        "image:REFERENCE for an image volume.",
    )
    k8s_template_volume: str = Field(
        default="empty:16Gi",
        description="Volume of templates: empty:SIZE, memory:SIZE, ephemeral:SIZE[:CLASS] or claim:NAME (with {node}: "
        "each node's own).",
    )
    k8s_scratch_size: str = Field(default="8Gi", description="Room for what a pod's machines write.")
    k8s_kvm_resource: str = Field(
        default="devices.kubevirt.io/kvm",
        description="Resource by which a device plugin gives /dev/kvm; empty: machines are emulated.",
    )
    k8s_namespace: str = Field(default="", description="Namespace of the pods; empty: the worker's own, or `default`.")
    k8s_instance_label: str = Field(
        default="deskarena",
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$",
        description="Name of this installation, a label of its pods: another one for each in a namespace.",
    )
    k8s_nodes: str = Field(
        default="", description="Label selector of nodes whose slots are used; needs the right to read nodes."
    )
    k8s_slots: int = Field(
        default=0, ge=0, le=1000, description="Slots without a node of their own, where nodes are not read."
    )
    k8s_max_desktops_per_worker: int = Field(
        default=20, ge=1, le=500, description="Desktops in pods that one worker runs at once."
    )
    k8s_max_attempts_per_pod: int = Field(
        default=50, ge=1, description="Attempts after which a slot's pod is replaced."
    )
    k8s_start_seconds: float = Field(
        default=300.0, gt=0, description="How long a pod may take to be ready before its slot is given back."
    )
    k8s_idle_seconds: float = Field(
        default=900.0, ge=30, description="How long a pod outlives its last use and its worker, ready for the next."
    )
    k8s_warm_pods_per_node: int = Field(
        default=0,
        ge=0,
        le=100,
        description="Pods kept ready on each node that no attempt uses yet; the same for all workers of a cluster.",
    )
    k8s_tolerations: tuple[dict[str, Any], ...] = Field(
        default=(), description="Tolerations (JSON list) of the pods, as in their spec."
    )
    k8s_labels: dict[str, str] = Field(default={}, description="Further labels (JSON) of the pods.")
    k8s_pull_secrets: tuple[str, ...] = Field(
        default=(), description="Secrets (JSON list of names) for the registry of the pods' image."
    )
    log_level: str = Field(default="INFO", description="Log level of API and workers.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - same
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """A variable goes before the file that is named beside it."""
        return init_settings, env_settings, SecretFiles(settings_cls)


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The settings of this process; read on first use. Logs variables that nothing reads.

    Raises:
        RenamedVariable: A variable is set under the name that it had in an earlier release.
    """
    check_renamed(os.environ)
    for warning in unknown_variables(os.environ):
        log.warning("%s", warning)
    return Settings()


def settings_or_exit() -> Settings:
    """The settings at a program's start; ends it with one sentence if a variable has been renamed."""
    try:
        return get_settings()
    except RenamedVariable as error:
        sys.exit(str(error))


def unknown_variables(names: Iterable[str]) -> list[str]:
    """A sentence for each DESKARENA_ variable that nothing reads, with the setting that was probably meant."""
    settings = known_variables()
    unknown = sorted(name for name in names if name not in settings and not is_foreign(name))
    return [f"{name} is not a setting.{_suggestion(name, settings)}" for name in unknown]


def known_variables() -> frozenset[str]:
    """Every variable that a setting is read from."""
    fields = Settings.model_fields.items()
    files = {f"{name}_FILE" for key, field in fields if is_secret(field) for name in variables_of(key, field)}
    return frozenset(files.union(*(variables_of(key, field) for key, field in fields)))


def _suggestion(name: str, settings: Iterable[str]) -> str:
    near = get_close_matches(name, settings, n=1)
    return f" Did you mean {near[0]}?" if near else " docs/settings.md lists them."
