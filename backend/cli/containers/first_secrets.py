"""Creates the passwords of docker-compose.yml at first start. Runs as root with only CHOWN, without a network.

Each service has a folder that only its user can enter. Existing passwords are kept; a repeated run only corrects the
owner of a folder. To change a password, remove its file and also change it in the server (docs/deploy-compose.md).
"""

import json
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

API, DATABASE, BROKER, STORE = 10001, 999, 10003, 10002
"""User ids of the containers. They differ because the containers share the volume."""
BUCKET = "deskarena"


def texts(word: Mapping[str, str]) -> dict[str, tuple[int, dict[str, str]]]:
    """File contents by folder.

    Args:
        word: passwords by name: database, broker, token, key, secret.
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
    """Writes all files unless they exist. Returns whether it wrote them.

    Args:
        root: mount point of the volume.
        owned: change each folder's owner; requires root.
    """
    marker = root / "done"
    written = marker.exists()
    word = {name: secrets.token_urlsafe(32) for name in ("database", "broker", "token", "key", "secret")}
    for folder, (reader, files) in texts(word).items():
        if not written:
            _write(root / folder, files, owned=owned)
        if owned and (root / folder).stat().st_uid != reader:
            _give(root / folder, reader)
    # Created last: without it, an interrupted start begins again, and no server has read any file yet.
    marker.touch()
    return not written


def _write(folder: Path, files: Mapping[str, str], *, owned: bool) -> None:
    """Writes a folder and its files, replacing what an interrupted start left behind."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if owned:
        # Without further capabilities, root can only enter folders that it owns.
        os.chown(folder, 0, 0)
    folder.chmod(0o700)
    for name, text in files.items():
        file = folder / name
        file.unlink(missing_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o400)
    folder.chmod(0o500)


def _give(folder: Path, reader: int) -> None:
    """Changes the owner of a folder and its files."""
    os.chown(folder, 0, 0)
    for file in folder.iterdir():
        os.chown(file, reader, reader)
    os.chown(folder, reader, reader)


def main() -> None:
    """Creates the passwords and sets the owner of the store's folder."""
    is_new = lay_out(Path("/run/deskarena"))
    os.chown("/store", STORE, STORE)
    print("Created passwords" if is_new else "Passwords exist", file=sys.stderr)


if __name__ == "__main__":
    main()
