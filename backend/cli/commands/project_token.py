"""`deskarena project token`: a short-lived token for a CI job, without a stored secret."""

import os
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

import httpx
import typer

from backend.cli.client import TIMEOUT, Api
from backend.cli.errors import CliError, UsageError
from backend.cli.options import Server

ID_TOKEN = "DESKARENA_ID_TOKEN"  # noqa: S105 - a variable's name
REQUEST_URL, REQUEST_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # noqa: S105 - same
HINT = (
    f"In GitLab, name it {ID_TOKEN} in the job's id_tokens; in GitHub, give the job the permission id-token: write; "
    "or use --id-token-file."
)


def token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Project name.")] = "default",
    audience: Annotated[
        str | None,
        typer.Option("--audience", help="Audience for GitHub's token (default: the server's address)."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--id-token-file", metavar="FILE", help="File with the job's id token; - is the standard input."),
    ] = None,
    server: Server = None,
) -> None:
    """Print a short-lived token for a CI job that the project trusts."""
    with Api(server, token="") as api:
        body = {"id_token": _id_token(file, audience or api.server), "project": name}
        print(api.post("/id-token-exchange", body)["token"])  # noqa: T201 - it is the command's output


def _id_token(file: Path | None, audience: str) -> str:
    """The job's: of a file, of a variable, or asked of GitHub. Raises CliError."""
    if file is not None:
        try:
            return (sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")).strip()
        except (OSError, ValueError) as error:
            raise UsageError(f"{file} cannot be read: {error}.", code="file_not_readable") from error
    if id_token := os.environ.get(ID_TOKEN, "").strip():
        return id_token
    address, secret = os.environ.get(REQUEST_URL, ""), os.environ.get(REQUEST_TOKEN, "")
    if not address or not secret:
        raise UsageError(f"There is no id token. {HINT}", code="no_id_token")
    try:
        headers = {"Authorization": f"Bearer {secret}"}
        url = httpx.URL(address).copy_merge_params({"audience": audience})
        answer = httpx.get(url, headers=headers, timeout=TIMEOUT)
        if answer.status_code == HTTPStatus.OK:
            return str(answer.json()["value"])
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        pass
    raise CliError("GitHub did not issue an id token for the job. Try again.", code="no_id_token")
