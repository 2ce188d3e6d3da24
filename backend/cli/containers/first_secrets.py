"""Makes the passwords of docker-compose.yml at its first start. Runs as root with CHOWN only, and without a network.

Each reader has a folder that only its user can enter. What is there stays, so a second run changes nothing but the
owner of a folder whose reader has another number now; to change a password, remove its file and tell the server, too
(docs/deploy-compose.md).
"""

import json
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

API, DATABASE, BROKER, STORE = 10001, 999, 10003, 10002
"""The users that the containers run as: all different, since they share the volume."""
BUCKET = "deskarena"


def texts(word: Mapping[str, str]) -> dict[str, tuple[int, dict[str, str]]]:
    """What each folder holds: its reader and its files.

    Args:
        word: the passwords by name: database, broker, token, key, secret.
    """
    identity = {
        "name": "deskarena",
        "credentials": [{"accessKey": word["key"], "secretKey": word["secret"]}],
        "actions": [f"{action}:{BUCKET}" for action in ("Admin", "Read", "Write", "List", "Tagging")],
    }
    conf = f"requirepass {word['broker']}\nsave ''\nappendonly no\ndir /data\nmaxmemory 384mb\n"
    api = {
        "database_url": f"postgresql+psycopg://deskarena:{word['database']}@postgres/deskarena",
        "redis_url": f"redis://:{word['broker']}@broker:6379/0",
        "token": word["token"],
        "s3_access_key": word["key"],
        "s3_secret_key": word["secret"],
    }
    return {
        "api": (API, api),
        "postgres": (DATABASE, {"password": word["database"]}),
        "broker": (BROKER, {"valkey.conf": conf}),
        "store": (STORE, {"s3.json": json.dumps({"identities": [identity]}, indent=2)}),
    }


def lay_out(root: Path, *, owned: bool = True) -> bool:
    """Writes everything, unless it was written before. True if it was written now.

    Args:
        root: the volume of passwords.
        owned: give each folder to its reader; only root can.
    """
    done = root / "done"
    written = done.exists()
    word = {name: secrets.token_urlsafe(32) for name in ("database", "broker", "token", "key", "secret")}
    for folder, (reader, files) in texts(word).items():
        if not written:
            _write(root / folder, files, owned=owned)
        if owned and (root / folder).stat().st_uid != reader:
            _give(root / folder, reader)
    # Last, so that a start that was cut short begins anew: no server has seen any of it yet.
    done.touch()
    return not written


def _write(place: Path, files: Mapping[str, str], *, owned: bool) -> None:
    """A folder and its files anew, as they are to be read; what a start that was cut short left is removed."""
    place.mkdir(mode=0o700, exist_ok=True)
    if owned:
        # Without further capabilities root enters only what is its own.
        os.chown(place, 0, 0)
    place.chmod(0o700)
    for name, text in files.items():
        file = place / name
        file.unlink(missing_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o400)
    place.chmod(0o500)


def _give(place: Path, reader: int) -> None:
    """Gives a folder and its files to the reader."""
    os.chown(place, 0, 0)
    for file in place.iterdir():
        os.chown(file, reader, reader)
    os.chown(place, reader, reader)


def main() -> None:
    """Lays out the volume, and gives the store its own."""
    is_new = lay_out(Path("/run/deskarena"))
    os.chown("/store", STORE, STORE)
    print("made passwords" if is_new else "passwords are there", file=sys.stderr)


if __name__ == "__main__":
    main()
