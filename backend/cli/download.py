"""Downloads an export to a folder; a repeated download continues an interrupted one."""

import hashlib
import json
import re
import tarfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, Any

from backend.addresses import API
from backend.cli.client import Api
from backend.cli.errors import CliError, UsageError
from backend.cli.output import progress

QUESTION = "export.json"
MANIFEST = "manifest.json"
_ROWS = re.compile(r"data/part-(\d{5,})\.(?:jsonl|parquet)")
_LISTS = frozenset({"index.jsonl", "excluded.jsonl", "images.jsonl", MANIFEST})
_PICTURE = re.compile(r"images/([0-9a-f]{64})\.[a-z]{3,4}")
_CHUNK = 2**18
_TRIES = 3
_TOLD_EVERY = 2.0
_AT_ONCE = 256


class ExportDownload:
    """Download of one export to one folder.

    The service sends rows and lists as a tar without pictures; then each picture that is missing or has the wrong hash
    is downloaded. Files are written under a temporary name and renamed, so a file under its own name is complete.
    `manifest.json` is written last: a folder that has it is complete.

    Attributes:
        missing: pictures that the service no longer has.
    """

    def __init__(self, api: Api, out: Path, question: Mapping[str, Any], jobs: int) -> None:
        """Args: api: client; out: folder; question: the export's parameters; jobs: parallel downloads of pictures."""
        self._api, self._out, self._question, self._jobs = api, out, dict(question), jobs
        self.missing = 0
        self._missing_bytes = 0

    def run(self) -> Any:
        """Downloads everything; returns the manifest.

        Raises:
            UsageError: the folder contains something else.
            CliError: the service did not respond, or its data changes faster than it can be downloaded.
        """
        self._prepare()
        start = sum(1 for _ in self._parts_there())
        if start:
            progress(f"{start} files of rows exist already")
        for _ in range(_TRIES):
            manifest = self._receive(start)
            wrong = self._first_wrong(manifest)
            if wrong is None:
                self._fetch_pictures()
                self._count(manifest)
                self._write(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False).encode())
                return manifest
            progress(f"File of rows {wrong} has changed on the server; downloading it and all later ones again")
            start = wrong
        raise CliError(
            "The exported data keeps changing. Give --until to export only what has ended by then.",
            code="export_changes",
        )

    def _prepare(self) -> None:
        """Checks that the folder is new or belongs to this export."""
        file = self._out / QUESTION
        if not file.exists():
            if self._out.exists() and any(self._out.iterdir()):
                raise UsageError(
                    f"--out {self._out} exists and is not empty. Choose another folder.", code="folder_not_empty"
                )
        elif json.loads(file.read_text()) != self._question:
            raise UsageError(
                f"--out {self._out} contains another export (see {file}). Choose another folder.",
                code="folder_not_empty",
            )
        (self._out / MANIFEST).unlink(missing_ok=True)

    def _parts_there(self) -> Iterator[Path]:
        """Number of files of rows that exist, from the first, without a gap."""
        for number in range(10**6):
            part = self._part(number)
            if not part.exists():
                return
            yield part

    def _part(self, number: int) -> Path:
        return self._out / "data" / f"part-{number:05}.{self._question['format']}"

    def _receive(self, start: int) -> Any:
        """Downloads rows from that file on, and all lists; returns the manifest without writing it."""
        manifest = None
        params = {**self._question, "pictures": False, "from_part": start}
        with self._api.stream("/trajectories/export", **params) as source:
            # Create the folder only now: after a refused request it would make the corrected one fail.
            self._out.mkdir(parents=True, exist_ok=True)
            self._write(QUESTION, json.dumps(self._question, indent=2).encode())
            try:
                with tarfile.open(fileobj=source, mode="r|") as archive:
                    for member in archive:
                        data = self._check(member, archive)
                        if member.name == MANIFEST:
                            manifest = json.load(data)
                        else:
                            self._keep(member.name, data)
                            progress(f"Wrote {member.name} ({member.size} bytes)")
            except (tarfile.TarError, ValueError) as error:
                raise CliError(
                    f"The connection broke ({error}). Repeat the command to continue.", code="connection_lost"
                ) from None
        if manifest is None:
            raise CliError(
                "The service closed the connection early. Repeat the command to continue.", code="connection_lost"
            )
        return manifest

    @staticmethod
    def _check(member: tarfile.TarInfo, archive: tarfile.TarFile) -> IO[bytes]:
        """The file's bytes. Rejects files that are not part of an export."""
        data = archive.extractfile(member) if member.isreg() else None
        if data is None or not (_ROWS.fullmatch(member.name) or member.name in _LISTS):
            raise CliError(
                f"The service sent {member.name[:80]!r}, which is not part of an export.", code="export_damaged"
            )
        return data

    def _first_wrong(self, manifest: Any) -> int | None:
        """Number of the first file of rows that differs from the manifest. Removes surplus files."""
        named = [file for file in manifest["files"] if _ROWS.fullmatch(file["name"])]
        for part in list(self._parts_there())[len(named) :]:
            part.unlink()
        for number, file in enumerate(named):
            if sha256_of(self._part(number)) != file["sha256"]:
                return number
        return None

    def _fetch_pictures(self) -> None:
        """Downloads every listed picture that is missing or has the wrong hash."""
        last_report = time.monotonic()
        finished = fetched = 0
        with (self._out / "images.jsonl").open("rb") as lines, ThreadPoolExecutor(self._jobs) as jobs:
            rows = map(json.loads, lines)
            while some := list(islice(rows, _AT_ONCE)):
                came = list(jobs.map(self._fetch_picture, some))
                gone = [row["bytes"] for row, size in zip(some, came, strict=True) if size is None]
                self.missing, self._missing_bytes = self.missing + len(gone), self._missing_bytes + sum(gone)
                fetched += came.count(True)  # noqa: FBT003 - counted
                finished += len(some)
                if time.monotonic() - last_report > _TOLD_EVERY:
                    last_report = time.monotonic()
                    progress(f"{finished} pictures checked, {fetched} downloaded")
        progress(f"{finished} pictures, {fetched} of them downloaded now")

    def _fetch_picture(self, row: Mapping[str, Any]) -> bool | None:
        """True if it was downloaded, False if it existed, None if the service no longer has it."""
        name, match = str(row["name"]), _PICTURE.fullmatch(str(row["name"]))
        if match is None:
            raise CliError(f"The service listed {name[:80]!r}, which is not a picture.", code="export_damaged")
        if sha256_of(self._out / name) == match[1]:
            return False
        data = self._api.download_if_exists(f"{API}/artifacts/{match[1]}")
        if data is None:
            return None
        if hashlib.sha256(data).hexdigest() != match[1]:
            raise CliError(f"The bytes of {name} do not match its hash. Repeat the command.", code="export_damaged")
        self._write(name, data)
        return True

    def _count(self, manifest: Any) -> None:
        """Adds the number of pictures to the manifest: the service does not know which of them exist."""
        counts = manifest["counts"]
        counts["pictures"] -= self.missing
        counts["picture_bytes"] -= self._missing_bytes
        counts["pictures_missing"] += self.missing

    def _write(self, name: str, data: bytes) -> None:
        target = self._out / name
        target.parent.mkdir(exist_ok=True)
        beside = target.with_name(f".{target.name}.new")
        beside.write_bytes(data)
        beside.replace(target)

    def _keep(self, name: str, data: IO[bytes]) -> None:
        target = self._out / name
        target.parent.mkdir(exist_ok=True)
        beside = target.with_name(f".{target.name}.new")
        with beside.open("wb") as file:
            while chunk := data.read(_CHUNK):
                file.write(chunk)
        beside.replace(target)


def sha256_of(file: Path) -> str | None:
    """SHA-256 of a file; None if it does not exist."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        return None
