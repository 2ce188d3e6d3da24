"""Gives a command the installation's database, whether or not it is running."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from backend.cli.embedded import external
from backend.cli.embedded.data_dir import DataFolder, is_in_use, refuse_old_schema
from backend.cli.embedded.postgres import running_url, start_postgres
from backend.cli.errors import StackError


@contextmanager
def existing_database(data: Path, outer: Mapping[str, str]) -> Iterator[str]:
    """Address of the database: DATABASE_URL, that of the `deskarena up` on the data folder, or one started for this.

    Raises:
        StackError: there is none, or it cannot be started.
    """
    if not external.database_url(outer) and not (data / "postgres").is_dir():
        raise StackError(
            f"{data} has no database. Choose the data folder with --data, or set DATABASE_URL.", code="path_not_found"
        )
    if not external.database_url(outer) and (data / "lock").exists() and is_in_use(data):
        refuse_old_schema(data)
        yield running_url(data)
        return
    with own_database(data, outer) as url:
        yield url


@contextmanager
def own_database(data: Path, outer: Mapping[str, str]) -> Iterator[str]:
    """Address of the database: DATABASE_URL, or the data folder's, created if missing and started for this.

    Raises:
        StackError: it cannot be started, or `deskarena up` uses the data folder.
    """
    if url := external.database_url(outer):
        external.check_database(url)
        yield url
        return
    refuse_old_schema(data)
    with DataFolder(data) as folder:
        server = start_postgres(folder.path, hold_fds=(folder.children_fd,))
        try:
            yield server.url
        finally:
            server.stop()
