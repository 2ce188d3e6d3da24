"""The pod's first process: checks its environment, prints the result on one line, and becomes the supervisor.

It uses exec, so that the supervisor receives the container engine's signals. Standard library only. Variables:

| variable | meaning |
|---|---|
| `DESKARENA_SUPERVISOR_TOKEN` | what a worker must show; or `..._TOKEN_FILE`, the path of a file that holds it |
| `DESKARENA_POD_LISTEN` | where workers connect, default `0.0.0.0:7070` |
| `DESKARENA_POD_FORWARD` | address on which guest APIs are reached, default `0.0.0.0` |
| `DESKARENA_POD_FENCE` | lowest number of a lease under which the slot may be used, default 0 |
| `DESKARENA_POD_OVERLAY_BYTES` | what one machine may write to its disk, default 0: no limit |
| `DESKARENA_POD_ALONE_SECONDS` | seconds without a worker after which it ends, default 0: never |
| `DESKARENA_POD_IMAGES`, `_TEMPLATES`, `_OVERLAYS` | the volumes, default `/images`, `/templates`, `/overlays` |
"""

import json
import os
import shutil
import sys
from pathlib import Path

TOKEN = "DESKARENA_SUPERVISOR_TOKEN"  # noqa: S105 - the variable's name.
SHORTEST_TOKEN = 16
QEMU = "qemu-system-x86_64"
KVM = Path("/dev/kvm")
PASSED_VARIABLES = frozenset({"PATH", "LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE"})
HERE = Path(__file__).resolve().parent
CONFIGURATION_ERROR = 78
"""EX_CONFIG of sysexits.h: restarting without a change is useless."""


class NotReadyError(Exception):
    """Something is missing; the message says what to do."""


def token() -> str:
    """The token for workers. Raises NotReadyError."""
    file = os.environ.get(f"{TOKEN}_FILE", "")
    try:
        value = (Path(file).read_text(encoding="ascii") if file else os.environ.get(TOKEN, "")).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NotReadyError(f"{TOKEN}_FILE: {file} cannot be read: {error}") from error
    if len(value) < SHORTEST_TOKEN:
        raise NotReadyError(f"set {TOKEN} or {TOKEN}_FILE: {SHORTEST_TOKEN} or more characters")
    return value


def volume(name: str, *, writable: bool) -> Path:
    """The folder of a volume. Raises NotReadyError if it cannot be used."""
    path = Path(os.environ.get(f"DESKARENA_POD_{name}", f"/{name.lower()}"))
    needed = os.R_OK | os.X_OK | (os.W_OK if writable else 0)
    if not path.is_dir() or not os.access(path, needed):
        kind = "a volume that this user may write to" if writable else "the volume of images"
        raise NotReadyError(f"mount {kind} at {path}")
    return path


def images(folder: Path) -> list[str]:
    """Names of the complete images on the volume. Raises NotReadyError if there are none, or one is writable."""
    names = sorted(path.parent.name for path in folder.glob("*/image.json"))
    if not names:
        raise NotReadyError(f"{folder} holds no image; docs/internals/machine-images.md says how they are made")
    writable = [path for name in names for path in (folder / name).iterdir() if os.access(path, os.W_OK)]
    if writable:
        raise NotReadyError(f"{writable[0]} can be written to: mount the images read-only")
    return names


def facts() -> dict[str, object]:
    """Facts for the log. Raises NotReadyError."""
    if shutil.which(QEMU) is None:
        raise NotReadyError(f"{QEMU} is not installed")
    overlays = volume("OVERLAYS", writable=True)
    return {
        "event": "ready",
        "images": images(volume("IMAGES", writable=False)),
        "templates": str(volume("TEMPLATES", writable=True)),
        "overlay_bytes": shutil.disk_usage(overlays).free,
        # The worker finds out by booting whether a machine really runs with it.
        "kvm_device": os.access(KVM, os.R_OK | os.W_OK),
        "uid": os.getuid(),
    }


def supervisor() -> list[str]:
    """The supervisor's command line."""
    listen = os.environ.get("DESKARENA_POD_LISTEN", "0.0.0.0:7070")
    forward = os.environ.get("DESKARENA_POD_FORWARD", "0.0.0.0")  # noqa: S104 - the pod's own network; secrets guard it.
    overlays = str(volume("OVERLAYS", writable=True))
    words = [sys.executable, "-S", "-m", "worker.qemu.supervisor"]
    volumes = [
        "--images",
        str(volume("IMAGES", writable=False)),
        "--templates",
        str(volume("TEMPLATES", writable=True)),
    ]
    numbers = ["--fence", number("FENCE"), "--overlay-bytes", number("OVERLAY_BYTES")]
    numbers += ["--alone-seconds", number("ALONE_SECONDS")]
    return [*words, "--listen", listen, "--forward", forward, "--overlays", overlays, *volumes, *numbers]


def number(name: str) -> str:
    """An integer variable, 0 if it is not set. Raises NotReadyError for anything else."""
    value = os.environ.get(f"DESKARENA_POD_{name}", "0")
    if not value.isdecimal():
        raise NotReadyError(f"DESKARENA_POD_{name} is a number, not {value!r}")
    return value


def main() -> None:
    """Returns only if something is missing."""
    try:
        secret, report, words = token(), facts(), supervisor()
    except NotReadyError as error:
        print(f"deskarena pod: {error}", file=sys.stderr, flush=True)
        sys.exit(CONFIGURATION_ERROR)
    print(json.dumps(report), flush=True)
    os.chdir(os.environ.get("DESKARENA_POD_CODE", HERE))
    # Only the required part of the container's environment reaches the supervisor and its machines.
    environment = {name: value for name, value in os.environ.items() if name in PASSED_VARIABLES}
    os.execve(words[0], words, {**environment, TOKEN: secret})  # noqa: S606 - no shell is the point.


if __name__ == "__main__":
    main()
