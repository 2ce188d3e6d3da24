"""`deskarena backup`, `restore` and `verify`: database and artifacts of this machine's installation."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.errors import CliError, ExitCode
from backend.cli.options import Data, OutputForm, default_data
from backend.cli.output import Output, print_object, progress
from backend.domain.errors import DeskarenaError

if TYPE_CHECKING:
    from backend.config import Settings
    from backend.services.backups.verification import Verification

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Backup folder.", file_okay=False)]
SnapshotName = Annotated[
    str, typer.Option("--snapshot", metavar="NAME", help="Snapshot in the backup folder.", show_default="the newest")
]
MOST_PROBLEMS = 10
"""Maximum number of names that a table of problems lists."""


def backup(
    folder: Folder,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, metavar="N", help="Remove all but the newest N snapshots (default: keep all)."),
    ] = None,
    data: Data = None,
    output: OutputForm = Output.TABLE,
) -> None:
    """Back up database and artifacts into a folder, while the service runs or not.

    Each backup is a complete snapshot of the database; artifacts that the folder has already are not copied again.
    Secrets and machine images are not included. Exits with 3 if an artifact of the installation is missing or damaged.
    """
    from backend.cli.embedded.database_access import existing_database
    from backend.services.artifacts.stores import open_store
    from backend.services.backups.backup import make_backup
    from backend.services.backups.backup_folder import BackupFolder

    settings, target = _settings(data), BackupFolder(folder.expanduser().absolute())
    with _errors(), existing_database(settings.data_dir, os.environ) as url:
        store = open_store(settings)
        report = make_backup(url, store, target, release=_release(), models=settings.models_path, tell=progress)
        removed = target.prune(keep)[0] if keep else 0
    result = {**vars(report), "removed_snapshots": removed}
    for sha256, reason in sorted(report.bad.items())[:MOST_PROBLEMS]:
        progress(f"Not backed up: {sha256}: {reason}")
    print_object(
        result,
        output,
        lambda row: print(
            "snapshot {snapshot}: {rows} rows; {copied} artifacts copied, {there} there already".format(**row)
            + f", {len(report.bad)} missing or damaged"
        ),
    )
    _exit(good=not report.bad)


def restore(
    folder: Folder,
    name: SnapshotName = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove everything in the database. Stop the service first.")
    ] = False,
    data: Data = None,
    output: OutputForm = Output.TABLE,
) -> None:
    """Restore database and artifacts from a backup into an empty data folder or database.

    The schema is upgraded to this release's. Exits with 3 if an artifact is missing or damaged: it is named, and the
    rest is restored.
    """
    from backend.cli.embedded.database_access import own_database
    from backend.services.artifacts.stores import open_store
    from backend.services.backups.backup_folder import BackupFolder
    from backend.services.backups.restore import restore as restore_snapshot

    settings, source = _settings(data), BackupFolder(folder.expanduser().absolute())
    with _errors():
        snapshot = source.snapshot(name)
        with own_database(settings.data_dir, os.environ) as url:
            result = restore_snapshot(
                snapshot,
                source,
                url,
                open_store(settings),
                models=settings.models_path,
                replace=replace,
                tell=progress,
            )
    _report(result, output, f"snapshot {snapshot.name} restored")


def verify(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="Backup folder (default: this installation's own artifacts)."),
    ] = None,
    name: SnapshotName = "",
    data: Data = None,
    output: OutputForm = Output.TABLE,
) -> None:
    """Verify a backup, or the artifacts of this installation, by reading everything and checking its hash.

    Exits with 3 if something is missing or damaged, and names it.
    """
    from backend.cli.embedded.database_access import existing_database
    from backend.services.artifacts.stores import open_store
    from backend.services.backups.backup_folder import BackupFolder
    from backend.services.backups.verification import verify_backup, verify_installation

    with _errors():
        if folder is not None:
            source = BackupFolder(folder.expanduser().absolute())
            snapshot = source.snapshot(name)
            result, subject = verify_backup(source, snapshot, progress), f"snapshot {snapshot.name}"
        else:
            settings = _settings(data)
            with existing_database(settings.data_dir, os.environ) as url:
                result, subject = verify_installation(url, open_store(settings), progress), "installation"
    _report(result, output, f"{subject} verified")


def _report(result: "Verification", output: Output, subject: str) -> None:
    row: dict[str, Any] = vars(result)
    print_object(row, output, lambda _: _print_problems(result, subject))
    _exit(good=result.is_good)


def _print_problems(result: "Verification", subject: str) -> None:
    rows = f"{result.rows} rows, " if result.rows else ""
    print(
        f"{subject}: {rows}{result.artifacts} artifacts intact, "
        f"{len(result.missing)} missing, {len(result.damaged)} damaged"
    )
    problems = [f"missing: {sha256}" for sha256 in result.missing]
    problems += [f"damaged: {name}: {reason}" for name, reason in sorted(result.damaged.items())]
    for line in problems[:MOST_PROBLEMS]:
        print(line)
    if len(problems) > MOST_PROBLEMS:
        print(f"and {len(problems) - MOST_PROBLEMS} more; -o json lists all")


def _release() -> str:
    try:
        return version("deskarena")
    except PackageNotFoundError:
        return "unknown"


def _exit(*, good: bool) -> None:
    if not good:
        raise typer.Exit(ExitCode.INFRASTRUCTURE)


def _settings(data: Path | None) -> "Settings":
    from backend.config import get_settings

    return get_settings().model_copy(update={"data_dir": (data or default_data()).expanduser().absolute()})


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except DeskarenaError as error:
        raise CliError(error.text, exit_code=ExitCode.INFRASTRUCTURE, code=error.code) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise CliError(f"{where}{error.strerror or error}", code="file_not_writable") from error
