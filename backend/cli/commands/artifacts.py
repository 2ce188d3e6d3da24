"""`deskarena artifacts`: copy artifacts between the data folder and the bucket."""

from enum import StrEnum
from typing import Annotated

import typer

from backend.cli.errors import CliError, ExitCode
from backend.cli.options import Data, OutputForm, default_data
from backend.cli.output import Output, print_object, progress
from backend.domain.errors import DeskarenaError

app = typer.Typer(help="Copy artifacts between the data folder and the bucket.", no_args_is_help=True)


class Store(StrEnum):
    """Artifact stores."""

    BUCKET = "bucket"
    FOLDER = "folder"


@app.callback()
def group() -> None:
    """Copy artifacts between the data folder and the bucket."""


@app.command("copy")
def copy_artifacts(
    to: Annotated[Store, typer.Option("--to", help="Store to copy to.")] = Store.BUCKET,
    data: Data = None,
    output: OutputForm = Output.TABLE,
) -> None:
    """Copy all artifacts of the data folder to the bucket DESKARENA_S3_BUCKET, or back. Nothing is removed.

    Runs on this machine with this process's settings. Safe to repeat: existing artifacts are skipped. Exits with 3 if
    an artifact is damaged or a store is unavailable.
    """
    from backend.config import get_settings
    from backend.services.artifacts.stores import folder_of, open_store
    from backend.services.artifacts.stores.copying import copy

    settings = get_settings().model_copy(update={"data_dir": (data or default_data()).expanduser().absolute()})
    if not settings.s3_bucket:
        raise CliError(
            "No bucket is configured. Set DESKARENA_S3_BUCKET (docs/settings.md).",
            exit_code=ExitCode.USAGE,
            code="bucket_not_configured",
        )
    try:
        stores = (folder_of(settings), open_store(settings))
        source, target = stores if to is Store.BUCKET else stores[::-1]
        report = copy(source, target, lambda partial: progress(f"{partial.total} artifacts checked"))
    except DeskarenaError as error:
        words = error.text
        raise CliError(words, exit_code=ExitCode.INFRASTRUCTURE, code=error.code) from error
    for sha256, reason in sorted(report.bad.items()):
        progress(f"Not copied: {sha256}: {reason}")
    result = {"copied": report.copied, "there": report.there, "not_copied": len(report.bad)}
    print_object(result, output, lambda row: print("{copied} copied, {there} there, {not_copied} not".format(**row)))
    if report.bad:
        raise typer.Exit(ExitCode.INFRASTRUCTURE)
