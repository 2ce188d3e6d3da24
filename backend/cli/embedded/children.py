"""Arguments and environments of the embedded stack's children, as pure functions."""

import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import backend
from backend.addresses import own_address
from backend.cli.embedded.process_spawn import ChildSpec
from backend.services.capacity.model_endpoints import key_variables

ROOT = Path(backend.__file__).resolve().parent.parent
# Variables of the caller that children inherit in addition to our own settings.
PREFIXES = ("DESKARENA_", "OTEL_")
INHERITED = ("PATH", "HOME", "TZ", "TMPDIR", "SSL_CERT_FILE")
FALLBACK_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CHORES = 4
"""Celery threads for wake-ups and maintenance; each slot has its own thread."""
API_ONLY = ("DESKARENA_HOST", "DESKARENA_PORT", "DESKARENA_TOKEN", "DESKARENA_ACCOUNTS", "DESKARENA_ALLOWED_HOSTS")


@dataclass(frozen=True, kw_only=True)
class ChildSettings:
    """Settings of all children.

    Args:
        data: Data folder.
        host: Address the API listens on.
        port: Port the API listens on.
        slots: Maximum desktops in parallel; 0 = no worker, None = computed by the worker.
        database_url: SQLAlchemy URL, with password.
        redis_url: Broker URL, with password.
    """

    data: Path
    host: str
    port: int
    slots: int | None
    database_url: str
    redis_url: str


def environment(settings: ChildSettings, outer: Mapping[str, str]) -> dict[str, str]:
    """Environment of API, workers and short-lived children.

    Args:
        settings: Settings determined by this stack.
        outer: The caller's environment; its DESKARENA_ and OpenTelemetry's variables are passed on.
    """
    own_settings = {name: value for name, value in outer.items() if name.startswith(PREFIXES)}
    return {
        "PATH": FALLBACK_PATH,
        **{name: outer[name] for name in INHERITED if name in outer},
        **own_settings,
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "DESKARENA_DATA_DIR": str(settings.data),
        "DESKARENA_HOST": settings.host,
        "DESKARENA_PORT": str(settings.port),
        "DESKARENA_API_ADDRESS": own_address(settings.host, settings.port),
        **({} if settings.slots is None else {"DESKARENA_SLOTS": str(settings.slots)}),
    }


def without(env: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """The environment without the given variables."""
    return {name: value for name, value in env.items() if name not in names}


def prepare(settings: ChildSettings, env: Mapping[str, str]) -> ChildSpec:
    """Child that migrates the database, imports our own benchmark and exits."""
    return _one_shot(settings, env, "prepare")


def demonstration(settings: ChildSettings, env: Mapping[str, str]) -> ChildSpec:
    """Child that submits a run if there has never been one, and exits."""
    return _one_shot(settings, env, "demonstration")


def _one_shot(settings: ChildSettings, env: Mapping[str, str], name: str) -> ChildSpec:
    return ChildSpec(
        name=name,
        argv=_python("-m", f"backend.cli.embedded.{name}"),
        env=without(env, API_ONLY),
        cwd=settings.data,
        log=settings.data / "logs" / f"{name}.log",
        stop=((signal.SIGTERM, 5.0),),
        orphan_seconds=1.0,
    )


def api(settings: ChildSettings, env: Mapping[str, str], listener: int) -> ChildSpec:
    """Child that serves API and pages on the listening socket with descriptor `listener`.

    The supervisor owns the socket. So a port in use is detected before anything starts, and requests wait instead of
    being refused while a crashed API restarts.
    """
    return ChildSpec(
        name="api",
        argv=_python("-m", "backend.web.serve", "--fd", str(listener)),
        env=dict(env),
        cwd=settings.data,
        log=settings.data / "logs" / "api.log",
        pass_fds=(listener,),
        stop=((signal.SIGTERM, 8.0),),
        orphan_seconds=2.0,
    )


def model_keys(settings: ChildSettings, outer: Mapping[str, str]) -> dict[str, str]:
    """The caller's variables with model keys and addresses; only the worker gets them."""
    file = Path(outer.get("DESKARENA_MODELS_FILE") or settings.data / "models.toml")
    return {name: outer[name] for name in key_variables(file) if name in outer}


def worker(settings: ChildSettings, env: Mapping[str, str], keys: Mapping[str, str]) -> ChildSpec:
    """Child that runs attempts on this machine's slots. Its desktop supervisor may need a moment to stop desktops.

    Args:
        settings: Settings determined by this stack.
        env: Environment of all children.
        keys: Model keys, for the worker only.
    """
    return ChildSpec(
        name="worker",
        argv=_celery("worker", "--pool", "threads", "--concurrency", str(CHORES)),
        env={**keys, **without(env, API_ONLY)},
        cwd=settings.data,
        log=settings.data / "logs" / "worker.log",
        stop=((signal.SIGTERM, 25.0),),
        orphan_seconds=10.0,
    )


def beat(settings: ChildSettings, env: Mapping[str, str]) -> ChildSpec:
    """Child that sends the periodic messages."""
    return ChildSpec(
        name="beat",
        argv=_celery("beat", "--schedule", str(settings.data / "beat-schedule"), "--pidfile", ""),
        env=without(env, API_ONLY),
        cwd=settings.data,
        log=settings.data / "logs" / "beat.log",
        stop=((signal.SIGTERM, 5.0),),
        orphan_seconds=1.0,
    )


def _python(*arguments: str) -> tuple[str, ...]:
    # -P: do not search the working folder, which is data, for modules.
    return (sys.executable, "-P", *arguments)


def _celery(*arguments: str) -> tuple[str, ...]:
    return _python("-m", "celery", "-A", "worker.app", *arguments, "--loglevel", "INFO")
